/** Shows deliveries with their attempts, and sends failed ones again, one or all. */
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { get, post } from '../../api/client.ts';
import type { WebhookDelivery, WebhookDeliveriesListResponse } from '../../api/types.ts';
import { useRefresh } from '../../live/live.ts';
import { ForWriters } from '../../ui/for-writers.tsx';
import { Button } from '../../ui/button.tsx';
import { controlPlaneCurl } from '../../ui/commands.ts';
import { Command } from '../../ui/copy.tsx';
import { Problem, Refusal, Skeleton } from '../../ui/empty.tsx';
import { duration, plural } from '../../ui/figures.ts';
import { Value } from '../../ui/json.tsx';
import { notify } from '../../ui/notice.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';

const PATH = '/v1/webhook-deliveries';
const PAGE = 50;
const KEY = ['resources', 'deliveries'];

const FAILED: readonly WebhookDelivery['status'][] = ['failed', 'exhausted'];

/** It waits for another attempt. A number without its attempt is one that is under way. */
const isRetrying = ({ status, attempt_count: made, attempts }: WebhookDelivery): boolean =>
  status === 'pending' && made > 0 && attempts.some(({ attempt }) => attempt === made);

export function Deliveries({
  endpoint,
  status,
}: {
  endpoint?: number;
  status?: WebhookDelivery['status'] | undefined;
}) {
  const client = useQueryClient();
  const query = useInfiniteQuery({
    queryKey: [...KEY, endpoint ?? null, status ?? null],
    queryFn: ({ pageParam, signal }) =>
      get<WebhookDeliveriesListResponse>(PATH, { endpoint, status, limit: PAGE, offset: pageParam }, signal),
    initialPageParam: 0,
    getNextPageParam: ({ meta }, pages) => (pages.length * PAGE < meta.total ? pages.length * PAGE : undefined),
  });
  useRefresh(() => void client.invalidateQueries({ queryKey: KEY }), { kinds: ['delivery'] });
  const again = useMutation({
    // Deliveries are sent again one after another, so that one which is refused does not keep back the others.
    mutationFn: async (ids: readonly string[]) => {
      for (const id of ids) await post(`${PATH}/${id}/redeliver`);
    },
    onSuccess: (_done, ids) => notify(`${plural(ids.length, 'delivery', 'deliveries')} queued again`),
    onSettled: () => void client.invalidateQueries({ queryKey: KEY }),
  });
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? [];
  const failed = rows.filter((row) => FAILED.includes(row.status) || isRetrying(row)).map(({ id }) => id);
  if (query.isPending) return <Skeleton rows={4} />;
  if (query.isError) return <Problem error={query.error} onRetry={() => void query.refetch()} />;
  if (rows.length === 0) {
    return (
      <div className="space-y-2 text-sm text-soft">
        <p>Nothing was sent yet. Any run that ends is told:</p>
        <Command label="aos command" text='npx aos run assistant "What is 17% of 2340?"' />
        <Command label="curl command" text={controlPlaneCurl({ path: PATH })} />
      </div>
    );
  }
  return (
    <div className="space-y-2">
      {failed.length > 1 && (
        <ForWriters>
          <Button icon="retry" isBusy={again.isPending} onClick={() => again.mutate(failed)}>
            Send all {failed.length} that failed again
          </Button>
        </ForWriters>
      )}
      <Refusal error={again.error} />
      <ul aria-label="Deliveries" className="card divide-y text-sm">
        {rows.map((row) => (
          <li key={row.id}>
            <details>
              <summary className="grid min-h-9 grid-cols-[7rem_minmax(0,1fr)_auto] items-center gap-x-3 px-3 py-1 hover:bg-raised pointer-coarse:min-h-11">
                <Status status={isRetrying(row) ? 'retrying' : row.status} />
                <span className="truncate">
                  {row.event_type}
                  {endpoint === undefined && <span className="text-soft"> to {row.url}</span>}
                </span>
                <Time at={row.created_at} className="tabular text-soft" />
              </summary>
              <div className="space-y-3 border-t bg-raised/50 p-3">
                <Attempts delivery={row} />
                {isRetrying(row) && (
                  <p className="text-soft">
                    It is sent again by itself, each time after a longer wait, eight times in all. Or now:
                  </p>
                )}
                {(row.status !== 'pending' || isRetrying(row)) && (
                  <ForWriters>
                    <Button icon="retry" isBusy={again.isPending} onClick={() => again.mutate([row.id])}>
                      Send again
                    </Button>
                  </ForWriters>
                )}
              </div>
            </details>
          </li>
        ))}
      </ul>
      {query.hasNextPage && (
        <Button isBusy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          Older deliveries
        </Button>
      )}
    </div>
  );
}

function Attempts({ delivery }: { delivery: WebhookDelivery }) {
  if (delivery.attempts.length === 0) return <p className="text-soft">No attempt yet.</p>;
  return (
    <ol className="space-y-3">
      {delivery.attempts.map((attempt) => (
        <li key={attempt.attempt} className="space-y-1">
          <p className="flex flex-wrap gap-x-3">
            <span>Attempt {attempt.attempt}</span>
            <span className="font-medium">
              {attempt.status_code === null ? 'no answer' : `HTTP ${attempt.status_code}`}
            </span>
            <span className="tabular text-soft">{duration(attempt.duration_ms)}</span>
            <Time at={attempt.ts} isAbsolute className="tabular text-soft" />
          </p>
          {attempt.error && <p className="break-words text-bad">{attempt.error}</p>}
          {attempt.response_excerpt && <Value value={attempt.response_excerpt} label="the beginning of the answer" />}
        </li>
      ))}
    </ol>
  );
}
