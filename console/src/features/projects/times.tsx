/** Shows when each phase ran, on one axis, and which of them decided how long the project took. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { CriticalPath } from '../../api/types.ts';
import { cx } from '../../ui/cx.ts';
import { duration } from '../../ui/figures.ts';
import { Icon } from '../../ui/icon.tsx';
import { criticalPathQuery } from './queries.ts';

type Timed = CriticalPath['phases'][number];

export function Times({ projectId }: { projectId: string }) {
  const { data } = useQuery(criticalPathQuery(projectId));
  const begun = data?.phases.filter(({ started_at: at }) => at !== null) ?? [];
  if (!data || data.took_ms === null || begun.length < 2) return null;
  const first = Math.min(...begun.map(startOf));
  const took = Math.max(1, data.took_ms);
  const deciding = data.phases.filter(({ is_critical: is }) => is);
  const longest = deciding.reduce((most, each) => ((each.took_ms ?? 0) > (most.took_ms ?? 0) ? each : most));
  return (
    <details className="border-b bg-surface">
      <summary className="min-h-9 px-4 py-2 text-sm pointer-coarse:min-h-11">
        <span className="font-medium">What decides how long it takes</span>{' '}
        <span className="text-soft">
          {duration(data.took_ms)}, of it {duration(longest.took_ms ?? 0)} in {longest.title}
          {longest.waited_ms > 0 && ` (${duration(longest.waited_ms)} waiting for an answer)`}
        </span>
      </summary>
      <ol aria-label="Phases by time" className="tabular space-y-0.5 px-4 pb-3 text-sm">
        {begun.map((phase) => (
          <li key={phase.phase_slug} className="grid items-center gap-x-3 sm:grid-cols-[10rem_minmax(0,1fr)_17rem]">
            <Link
              from="/projects/$projectId"
              to="."
              search={{ phase: phase.phase_slug }}
              className="flex min-h-6 items-center gap-1.5 truncate hover:underline pointer-coarse:min-h-11"
            >
              {phase.is_critical ? (
                <Icon name="clock" className="shrink-0 text-accent" />
              ) : (
                <span className="w-4 shrink-0" />
              )}
              <span className={cx('truncate', phase.is_critical && 'font-medium')}>{phase.title}</span>
            </Link>
            <span aria-hidden="true" className="relative h-3 rounded-sm bg-raised max-sm:hidden">
              <span
                className={cx('absolute inset-y-0 min-w-0.5 rounded-sm', phase.is_critical ? 'bg-accent' : 'bg-strong')}
                style={{
                  left: `${(100 * (startOf(phase) - first)) / took}%`,
                  width: `${(100 * (phase.took_ms ?? 0)) / took}%`,
                }}
              />
            </span>
            <span className="truncate text-soft max-sm:pl-5.5">{wordsOf(phase)}</span>
          </li>
        ))}
      </ol>
    </details>
  );
}

const startOf = ({ started_at: at }: Timed): number => new Date(at ?? 0).getTime();

function wordsOf({ took_ms: took, waited_ms: waited, slack_ms: slack, is_critical: isCritical }: Timed): string {
  const words = [duration(took ?? 0)];
  if (waited > 0) words.push(`waited ${duration(waited)}`);
  words.push(isCritical ? 'decides' : `had ${duration(slack ?? 0)} left`);
  return words.join(', ');
}
