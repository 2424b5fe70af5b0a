/** Shows agents that run by the clock: scheduled jobs with a cron expression, and heartbeats every so many seconds. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { del, patch, post } from '../../api/client.ts';
import type { Heartbeat, ScheduledJob } from '../../api/types.ts';
import { Acts } from '../../ui/acts.tsx';
import { Change } from '../../ui/change.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Folded } from '../../ui/folded.tsx';
import { duration } from '../../ui/figures.ts';
import { Resource } from '../../ui/resource.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';
import { Files } from '../attachments/files.tsx';
import { agentsQuery } from '../runs/queries.ts';

const JOBS = '/v1/scheduled-jobs';
const HEARTBEATS = '/v1/heartbeats';

const useAgents = (): readonly string[] => useQuery(agentsQuery).data?.map(({ slug }) => slug) ?? [];
const Next = ({ at }: { at: string | null }) => (at ? <Time at={at} /> : '–');

function RunsOf({ agent, q }: { agent: string; q: string }) {
  return (
    <Link
      to="/runs"
      search={{ agent, q: q.slice(0, 60) }}
      className="inline-flex min-h-6 items-center text-accent underline"
    >
      What it has started
    </Link>
  );
}

export function Jobs({ id }: { id: string | undefined }) {
  const agents = useAgents();
  return (
    <Resource<ScheduledJob>
      label="Scheduled jobs"
      path={JOBS}
      kinds={['schedule']}
      selected={id}
      idOf={(row) => row.id}
      columns={[
        { name: 'Job', cell: (row) => row.name ?? row.id },
        { name: 'State', cell: (row) => <Status status={row.enabled ? 'ok' : 'disabled'} /> },
        { name: 'Times', cell: (row) => row.schedule },
        { name: 'Agent', cell: (row) => row.agent ?? '' },
        { name: 'Next', cell: (row) => <Next at={row.next_run_at} />, isRight: true },
      ]}
      pane={(row) => ({
        title: row.name ?? row.id,
        body: (
          <>
            <p>{row.description}</p>
            <Facts
              facts={[
                ['Kind', row.kind],
                ['Times', row.schedule],
                ['Next', row.next_run_at ? <Time key="next" at={row.next_run_at} isAbsolute /> : 'not at all'],
                row.model !== undefined && ['Model', row.model],
              ]}
            />
            {row.kind === 'custom' && (
              <Files
                of="the job"
                path={`${JOBS}/${row.id}/attachments`}
                hint="Runs that it starts from now on can read them."
              />
            )}
            {row.brief && <Folded text={row.brief} />}
            {row.brief && row.agent && <RunsOf agent={row.agent} q={row.brief} />}
            <div className="flex flex-wrap gap-2">
              <Change
                label="Change"
                title={`Change ${row.name ?? row.id}`}
                schema="ScheduledJobChange"
                path={`${JOBS}/${row.id}`}
                before={row}
                without={row.kind === 'custom' ? [] : ['name', 'brief', 'model', 'reasoning']}
                done="Changed"
              />
            </div>
            <Acts
              acts={[
                {
                  label: row.enabled ? 'Switch off' : 'Switch on',
                  done: row.enabled ? 'Switched off' : 'Switched on',
                  act: () => patch(`${JOBS}/${row.id}`, { enabled: !row.enabled }),
                },
                {
                  label: 'Run now',
                  isHidden: row.brief === undefined,
                  done: 'Started: it is in the list of runs',
                  act: () => post('/v1/runs', { agent: row.agent, prompt: row.brief }),
                },
                {
                  label: 'Delete',
                  isHidden: row.kind !== 'custom',
                  asks: { title: `Delete ${row.name ?? row.id}?`, text: 'Its runs stay.' },
                  done: 'Deleted',
                  act: () => del(`${JOBS}/${row.id}`),
                },
              ]}
            />
          </>
        ),
      })}
      making={{
        label: 'New job',
        schema: 'NewScheduledJob',
        choices: { agent_slug: agents },
        start: { cron: '0 6 * * 1-5' },
      }}
      empty={{
        title: 'No job yet',
        text: 'An agent is given a brief at the times of a cron expression.',
        aos: 'npx aos jobs create "Morning report" "0 6 * * 1-5" assistant --brief "What is new since yesterday?"',
      }}
      aos="npx aos jobs list"
    />
  );
}

export function Heartbeats({ id }: { id: string | undefined }) {
  const agents = useAgents();
  return (
    <Resource<Heartbeat>
      label="Heartbeats"
      path={HEARTBEATS}
      kinds={['schedule']}
      selected={id}
      search={{ tab: 'heartbeats' }}
      idOf={(row) => row.id}
      columns={[
        { name: 'Heartbeat', cell: (row) => row.name },
        { name: 'State', cell: (row) => <Status status={row.enabled ? 'ok' : 'disabled'} /> },
        { name: 'Every', cell: (row) => duration(row.interval_s * 1_000) },
        { name: 'Agent', cell: (row) => row.agent_slug },
        { name: 'Next', cell: (row) => <Next at={row.next_run_at} />, isRight: true },
      ]}
      pane={(row) => ({
        title: row.name,
        body: (
          <>
            <Facts
              facts={[
                ['Agent', row.agent_slug],
                ['Every', duration(row.interval_s * 1_000)],
                ['Made', <Time key="made" at={row.created_at} isAbsolute />],
              ]}
            />
            <Folded text={row.prompt} />
            <RunsOf agent={row.agent_slug} q={row.prompt} />
            <Change
              label="Change"
              title={`Change ${row.name}`}
              schema="HeartbeatChange"
              path={`${HEARTBEATS}/${row.id}`}
              before={row}
              choices={{ agent_slug: agents }}
              done="Changed"
            />
            <Acts
              acts={[
                {
                  label: row.enabled ? 'Switch off' : 'Switch on',
                  done: row.enabled ? 'Switched off' : 'Switched on',
                  act: () => patch(`${HEARTBEATS}/${row.id}`, { enabled: !row.enabled }),
                },
                {
                  label: 'Run now',
                  done: 'Started: it is in the list of runs',
                  act: () => post('/v1/runs', { agent: row.agent_slug, prompt: row.prompt }),
                },
                {
                  label: 'Delete',
                  asks: { title: `Delete ${row.name}?`, text: 'Its runs stay.' },
                  done: 'Deleted',
                  act: () => del(`${HEARTBEATS}/${row.id}`),
                },
              ]}
            />
          </>
        ),
      })}
      making={{ label: 'New heartbeat', schema: 'NewHeartbeat', choices: { agent_slug: agents } }}
      empty={{
        title: 'No heartbeat yet',
        text: 'An agent is prompted every so many seconds, for as long as it is on.',
      }}
    />
  );
}
