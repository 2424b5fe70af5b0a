/** Says why runs failed, once for all of one kind, and tries those again. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { get } from '../../api/client.ts';
import { mayChange, useSession } from '../../api/session.ts';
import type { Failure, RunsFailuresResponse } from '../../api/types.ts';
import { useRefresh } from '../../live/live.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { count, money, plural } from '../../ui/figures.ts';
import { notify } from '../../ui/notice.tsx';
import { Time } from '../../ui/time.tsx';
import { forEach, outcome } from './bulk.tsx';

/** Without a filter of the age, failures of these hours are told. */
const HOURS = 24;
/** On a phone the list of runs would be pushed out of sight. */
const NARROW = '(width < 640px)';

export function Failures({ agent, hours = HOURS }: { agent: string | undefined; hours: number | undefined }) {
  const may = mayChange(useSession());
  const [asked, setAsked] = useState<Failure>();
  const { data, refetch } = useQuery({
    queryKey: ['runs', 'failures', agent ?? null, hours],
    queryFn: ({ signal }) => get<RunsFailuresResponse>('/v1/runs/failures', { agent, since_hours: hours }, signal),
    staleTime: 5_000,
  });
  useRefresh(() => void refetch(), { kinds: ['run'] });
  if (!data || data.data.length === 0) return null;
  return (
    <details className="border-b bg-surface" open={!window.matchMedia(NARROW).matches}>
      <summary className="min-h-9 px-4 py-2 text-sm pointer-coarse:min-h-11">
        <span className="font-medium">Why they failed</span>{' '}
        <span className="text-soft">
          {plural(data.meta.looked_at, 'run')} in the last {hours === 1 ? 'hour' : `${hours} hours`}
        </span>
      </summary>
      <ul aria-label="Why they failed" className="max-h-56 divide-y overflow-y-auto border-t text-sm">
        {data.data.map((failure) => (
          <li key={failure.reason} className="flex flex-wrap items-center gap-x-3 px-4 py-1">
            <span className="tabular w-12 text-right font-medium">{count(failure.count)}</span>
            <span className="min-w-0 flex-1 basis-60 break-words text-bad">
              {failure.example || 'no error was left'}
            </span>
            <span className="text-soft">{failure.agents.slice(0, 3).join(', ')}</span>
            <Link
              to="/runs/$runId"
              params={{ runId: failure.run_ids[0] ?? '' }}
              className="inline-flex min-h-6 items-center text-accent underline pointer-coarse:min-h-11"
            >
              latest <Time at={failure.latest_at} className="pl-1" />
            </Link>
            {may && (
              <Button look="ghost" icon="retry" onClick={() => setAsked(failure)}>
                Run {plural(failure.run_ids.length, 'run')} again
              </Button>
            )}
          </li>
        ))}
      </ul>
      <Confirm
        title={`Run ${plural(asked?.run_ids.length ?? 0, 'run')} again?`}
        action="Run them again"
        isOpen={asked !== undefined}
        onClose={() => setAsked(undefined)}
        onConfirm={async () => {
          const ids = asked?.run_ids ?? [];
          notify(outcome(ids.length, 'retry', await forEach(ids, 'retry')));
        }}
      >
        <p>
          A new run for each, with the same prompt, agent and budget. All {count(asked?.count ?? 0)} of this kind cost{' '}
          {money(asked?.cost_usd ?? 0)} until they failed. Where the reason is still there, they fail again.
        </p>
      </Confirm>
    </details>
  );
}
