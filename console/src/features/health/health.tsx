/** Shows the state of the deployment now, and what keeps it from working, with what to do about it. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { get } from '../../api/client.ts';
import type { SystemHealth, SystemInfo, WebhookDeliveriesListResponse } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { controlPlaneCurl } from '../../ui/commands.ts';
import { Command, CopyAs } from '../../ui/copy.tsx';
import { Problem, Skeleton } from '../../ui/empty.tsx';
import { Facts } from '../../ui/facts.tsx';
import { bytes, count, duration } from '../../ui/figures.ts';
import { Status } from '../../ui/status.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { waitCountsQuery } from '../inbox/queries.ts';
import { runCountsQuery } from '../runs/queries.ts';

const LOOK_AGAIN_MS = 10_000;
const LINK = 'inline-flex min-h-6 min-w-6 items-center text-accent underline pointer-coarse:min-h-11';

export function Health() {
  const health = useQuery({
    queryKey: ['health'],
    queryFn: ({ signal }) => get<SystemHealth>('/v1/system/health', undefined, signal),
    refetchInterval: LOOK_AGAIN_MS,
  });
  const info = useQuery({
    queryKey: ['system info'],
    queryFn: ({ signal }) => get<SystemInfo>('/v1/system/info', undefined, signal),
  });
  const runs = useQuery(runCountsQuery());
  const waits = useQuery(waitCountsQuery);
  const backlog = useQuery({
    queryKey: ['resources', 'deliveries', 'backlog'],
    queryFn: ({ signal }) =>
      get<WebhookDeliveriesListResponse>('/v1/webhook-deliveries', { status: 'pending', limit: 1 }, signal),
    refetchInterval: LOOK_AGAIN_MS,
  });
  if (health.error && !health.data) return <Problem error={health.error} onRetry={() => void health.refetch()} />;
  if (!health.data) return <Skeleton />;
  const { operations, embedding, limits, models, version, node } = info.data ?? {};
  return (
    <div className="space-y-4 p-4">
      <div className="flex flex-wrap items-center gap-3">
        <Status status={health.data.status} className="text-lg font-semibold" />
        <span className="text-sm text-soft">
          looked at <Time at={health.data.checked_at} />
        </span>
        <span className="ml-auto flex gap-2">
          <CopyAs curl={controlPlaneCurl({ path: '/v1/system/health' })} aos="npx aos system health" />
          <Button icon="retry" isBusy={health.isFetching} onClick={() => void health.refetch()}>
            Look again
          </Button>
        </span>
      </div>
      <section aria-label="Parts" className="card overflow-hidden">
        <Table
          label="Parts of the deployment"
          rows={health.data.parts}
          idOf={({ name }) => name}
          columns={[
            { name: 'Part', cell: ({ name }) => name },
            { name: 'State', cell: ({ status }) => <Status status={status} /> },
            { name: 'What it says', cell: ({ detail }) => detail ?? '' },
            { name: 'Answered in', cell: ({ latency_ms: ms }) => duration(ms), isRight: true },
          ]}
        />
      </section>
      <div className="grid gap-4 lg:grid-cols-2">
        <section aria-label="Work" className="card space-y-3 p-4">
          <h2 className="font-semibold">Work of this workspace</h2>
          <Facts
            facts={[
              [
                'Runs queued',
                <Link key="q" to="/runs" search={{ status: 'queued' }} className={LINK}>
                  {count(runs.data?.queued ?? 0)}
                </Link>,
              ],
              [
                'Runs under way',
                <Link key="r" to="/runs" search={{ status: 'running' }} className={LINK}>
                  {count(runs.data?.running ?? 0)}
                </Link>,
              ],
              [
                'Waits for people',
                <Link key="w" to="/inbox" className={LINK}>
                  {count(waits.data?.open ?? 0)}
                </Link>,
              ],
              ['Overdue', count(waits.data?.overdue ?? 0)],
              [
                'Deliveries under way',
                <Link key="d" to="/webhooks" search={{ tab: 'deliveries' }} className={LINK}>
                  {count(backlog.data?.meta.total ?? 0)}
                </Link>,
              ],
            ]}
          />
        </section>
        <section aria-label="Deployment" className="card space-y-3 p-4">
          <h2 className="font-semibold">Deployment</h2>
          <Facts
            facts={[
              ['Version', version],
              ['Node', node],
              ['Models', models?.available.join(', ') || 'the offline model'],
              models &&
                models.unpriced.length > 0 && ['Price not known', `${models.unpriced.join(', ')}: budgets refuse them`],
              embedding && [
                'Memory',
                `${embedding.model}${embedding.scripts ? `: knows ${embedding.languages?.join(', ')}, reads ${embedding.scripts.join(', ')} script only` : ''}`,
              ],
              limits && ['Uploads', `${limits.upload_files} files, ${bytes(limits.upload_bytes)}`],
              operations && ['Started', <Time key="started" at={operations.started_at} isAbsolute />],
              operations && ['Queues', operations.task_queues.join(', ')],
              operations && ['Mail', operations.mail === 'log' ? 'goes to the log: set SMTP_URL' : operations.mail],
              operations && ['Files', operations.files],
              operations && [
                'Temporal',
                `${operations.temporal_address ?? ''} ${operations.temporal_namespace}`.trim(),
              ],
              operations && ['Extensions', operations.extensions.join(', ') || 'none'],
              operations && [
                'Housekeeping',
                operations.late
                  .map(
                    ({ chore, due, overdue_s: late }) =>
                      `${chore}: ${count(due)} due, late by ${duration(late * 1_000)}`,
                  )
                  .join('; ') || 'nothing is late',
              ],
            ]}
          />
        </section>
      </div>
      <section aria-label="Doctor" className="space-y-2">
        <h2 className="font-semibold">What is wrong, and how to mend it</h2>
        <p className="text-sm text-soft">On the machine of the service, with a line of advice for each finding:</p>
        <Command label="aos command" text="npx aos doctor" />
      </section>
    </div>
  );
}
