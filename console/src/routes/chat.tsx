/** The page `/chat`, which shows conversations with agents: the list of them, and the one that is open. */
import { useSearch } from '@tanstack/react-router';
import { Conversation } from '../features/chat/conversation.tsx';
import { NewThread, Threads } from '../features/chat/threads.tsx';
import { cx } from '../ui/cx.ts';
import { Page } from '../ui/page.tsx';

export function ChatPage() {
  const { id } = useSearch({ from: '/chat' });
  return (
    <Page title="Chat" actions={<NewThread />} isFilling>
      <div className="flex min-h-0 flex-1">
        <div
          data-scroll
          className={cx('min-h-0 w-full overflow-y-auto lg:w-72 lg:border-r', id !== undefined && 'max-lg:hidden')}
        >
          <Threads selected={id} />
        </div>
        {id ? (
          <Conversation key={id} id={id} />
        ) : (
          <p className="flex-1 p-4 text-soft max-lg:hidden">Choose a conversation, or begin one.</p>
        )}
      </div>
    </Page>
  );
}
