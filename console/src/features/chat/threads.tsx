/** Lists the conversations of the workspace, and begins another one. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { post } from '../../api/client.ts';
import { mayChange, useSession } from '../../api/session.ts';
import type { ChatThread } from '../../api/types.ts';
import { useRefresh } from '../../live/live.ts';
import { Button } from '../../ui/button.tsx';
import { controlPlaneCurl } from '../../ui/commands.ts';
import { Command } from '../../ui/copy.tsx';
import { cx } from '../../ui/cx.ts';
import { Empty, Problem, Skeleton } from '../../ui/empty.tsx';
import { notifyProblem } from '../../ui/notice.tsx';
import { Time } from '../../ui/time.tsx';
import { threadsKey, threadsQuery } from './queries.ts';

export function NewThread() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const making = useMutation({
    mutationFn: () => post<ChatThread>('/v1/chat/threads', {}),
    onSuccess({ id }) {
      void client.invalidateQueries({ queryKey: threadsKey });
      void navigate({ to: '/chat', search: { id } });
    },
    onError: notifyProblem,
  });
  if (!mayChange(useSession())) return null;
  return (
    <Button look="primary" icon="plus" isBusy={making.isPending} onClick={() => making.mutate()}>
      New conversation
    </Button>
  );
}

export function Threads({ selected }: { selected: string | undefined }) {
  const client = useQueryClient();
  const { data, error, refetch } = useQuery(threadsQuery);
  useRefresh(() => void client.invalidateQueries({ queryKey: threadsKey }), { kinds: ['run'] });
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton />;
  if (data.data.length === 0) {
    return (
      <Empty
        title="No conversation yet"
        commands={
          <>
            <Command label="aos command" text="npx aos chat create --agent assistant" />
            <Command
              label="curl command"
              text={controlPlaneCurl({ method: 'POST', path: '/v1/chat/threads', body: { title: 'First words' } })}
            />
          </>
        }
      >
        An agent answers each message, and sees what was said before.
      </Empty>
    );
  }
  return (
    <ul aria-label="Conversations">
      {data.data.map((thread) => (
        <li key={thread.id}>
          <Link
            to="/chat"
            search={{ id: thread.id }}
            aria-current={thread.id === selected ? 'true' : undefined}
            className={cx(
              'block min-h-11 border-b px-4 py-2 -outline-offset-2 hover:bg-raised',
              thread.id === selected && 'bg-raised',
            )}
          >
            <span className="block truncate font-medium">{thread.title ?? 'Nothing said yet'}</span>
            <span className="flex justify-between gap-2 text-xs text-soft">
              <span className="truncate">{thread.agent ?? 'whichever agent fits'}</span>
              <Time at={thread.updated_at} />
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
