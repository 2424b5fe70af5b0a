/** Shows what was said in one conversation, the answer as it is written, and the box to say more in. */
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { del } from '../../api/client.ts';
import type { ChatMessage, ChatThread } from '../../api/types.ts';
import { useRefresh } from '../../live/live.ts';
import { Acts } from '../../ui/acts.tsx';
import { Button } from '../../ui/button.tsx';
import { Change } from '../../ui/change.tsx';
import { Problem, Skeleton } from '../../ui/empty.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Time } from '../../ui/time.tsx';
import { Files } from '../attachments/files.tsx';
import { agentsQuery } from '../runs/queries.ts';
import { isInFlight } from '../runs/types.ts';
import { useText } from '../runs/use-text.ts';
import { Say } from './say.tsx';
import { messagesQuery, threadKey, threadQuery, threadsKey } from './queries.ts';

const Markdown = lazy(() => import('../../ui/markdown.tsx').then((module) => ({ default: module.Markdown })));

export function Conversation({ id }: { id: string }) {
  const client = useQueryClient();
  const thread = useQuery(threadQuery(id));
  const messages = useInfiniteQuery(messagesQuery(id));
  const refresh = () => void client.invalidateQueries({ queryKey: threadKey(id) });
  // What is cancelled with a conversation is told of before the answer that it is gone: nobody is to ask for it then.
  const [isGoing, setIsGoing] = useState(false);
  useRefresh(refresh, { kinds: ['run'], isOn: !isGoing });
  const remove = async () => {
    setIsGoing(true);
    try {
      await client.cancelQueries({ queryKey: threadKey(id) });
      await del(`/v1/chat/threads/${id}`);
    } catch (failure) {
      setIsGoing(false);
      throw failure;
    }
  };
  const error = thread.error ?? messages.error;
  if (error) return <Problem error={error} onRetry={refresh} />;
  if (!thread.data || !messages.data) return <Skeleton />;
  // What was said meanwhile moves older messages into the next page, where they stand again.
  const newestFirst = new Map(messages.data.pages.flatMap(({ data }) => data).map((message) => [message.id, message]));
  const said = [...newestFirst.values()].reverse();
  return (
    <article aria-label={thread.data.title ?? 'New conversation'} className="flex min-h-0 flex-1 flex-col">
      <Head thread={thread.data} onRemove={remove} />
      <Files of="the conversation" path={`/v1/chat/threads/${id}/attachments`} hint="Name them with a message." />
      <Said
        messages={said}
        hasEarlier={messages.hasNextPage}
        isBusy={messages.isFetchingNextPage}
        onEarlier={() => void messages.fetchNextPage()}
      />
      <Say key={id} thread={thread.data} onSaid={refresh} />
    </article>
  );
}

function Head({ thread, onRemove }: { thread: ChatThread; onRemove: () => Promise<void> }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const agents = useQuery(agentsQuery).data?.map(({ slug }) => slug) ?? [];
  const path = `/v1/chat/threads/${thread.id}`;
  const changed = () => client.invalidateQueries({ queryKey: ['chat'] });
  return (
    <header className="flex flex-wrap items-center gap-2 border-b px-4 py-2">
      <Link to="/chat" search={{}} className="inline-flex min-h-9 items-center gap-1 text-accent lg:hidden">
        <Icon name="left" /> All
      </Link>
      <h2 className="min-w-0 flex-1 truncate font-semibold">{thread.title ?? 'New conversation'}</h2>
      <Change
        label="Rename"
        title="Name it, and who answers"
        schema="ChatThreadChange"
        path={path}
        before={{ title: thread.title, agent: thread.agent }}
        choices={{ agent: agents }}
        done="Changed"
        onDone={changed}
      />
      <Acts
        acts={[
          {
            label: 'Delete',
            asks: {
              title: 'Delete this conversation?',
              text: 'Its files go with it, and what is in flight is cancelled. Its runs stay in the list of runs.',
            },
            done: 'Deleted',
            act: async () => {
              await onRemove();
              void navigate({ to: '/chat', search: {} });
              await client.invalidateQueries({ queryKey: threadsKey });
            },
          },
        ]}
      />
    </header>
  );
}

interface SaidProps {
  messages: readonly ChatMessage[];
  hasEarlier: boolean;
  isBusy: boolean;
  onEarlier: () => void;
}

/** Stays at its end while something is written there, unless the reader has gone up. */
function Said({ messages, hasEarlier, isBusy, onEarlier }: SaidProps) {
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const toEnd = () => {
    if (isAtEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  };
  useEffect(toEnd);
  return (
    <div
      ref={box}
      role="log"
      aria-label="What was said"
      tabIndex={0}
      data-scroll
      className="min-h-0 flex-1 space-y-4 overflow-y-auto p-4 -outline-offset-2"
      onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < 40;
      }}
    >
      {hasEarlier && (
        <Button isBusy={isBusy} onClick={onEarlier}>
          Earlier messages
        </Button>
      )}
      {messages.length === 0 && <p className="text-soft">Say something: an agent answers here.</p>}
      {messages.map((message) => (
        <Message key={message.id} message={message} onWritten={toEnd} />
      ))}
    </div>
  );
}

function Message({ message, onWritten }: { message: ChatMessage; onWritten: () => void }) {
  const isAnswer = message.role === 'assistant';
  return (
    <section aria-label={isAnswer ? 'Answer' : 'Message'} className={isAnswer ? undefined : 'card ml-8 p-3'}>
      <p className="flex flex-wrap items-center gap-2 pb-1 text-xs text-soft">
        <span>{isAnswer ? (message.agent ?? 'an agent') : 'Asked'}</span>
        {message.created_at && <Time at={message.created_at} />}
        {isAnswer && (
          <Link
            to="/runs/$runId"
            params={{ runId: message.run_id }}
            className="inline-flex min-h-6 items-center text-accent underline"
          >
            run
          </Link>
        )}
      </p>
      {message.content !== null ? (
        <Suspense fallback={<p className="whitespace-pre-wrap">{message.content}</p>}>
          {isAnswer ? <Markdown text={message.content} /> : <p className="whitespace-pre-wrap">{message.content}</p>}
        </Suspense>
      ) : isInFlight(message.status) ? (
        <Writing runId={message.run_id} onWritten={onWritten} />
      ) : (
        <p className="text-bad">{message.error ?? `No answer: the run is ${message.status}.`}</p>
      )}
    </section>
  );
}

function Writing({ runId, onWritten }: { runId: string; onWritten: () => void }) {
  const text = useText(runId, true);
  useEffect(onWritten, [text, onWritten]);
  return (
    <p className="break-words whitespace-pre-wrap" aria-busy="true">
      {text || <span className="text-soft">Thinks …</span>}
    </p>
  );
}
