/** Shows the phases as an ordered list of links, which wide windows draw as a graph. */
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { cx } from '../../ui/cx.ts';
import { money } from '../../ui/figures.ts';
import { Status } from '../../ui/status.tsx';
import { Took } from '../../ui/time.tsx';
import { drawingOf, NODE } from './graph.ts';
import type { Phase } from './types.ts';

interface PhaseGraphProps {
  phases: readonly Phase[];
  selected: string | undefined;
  /** The slugs of the critical path, in its order. */
  critical: readonly string[];
}

export function PhaseGraph({ phases, selected, critical }: PhaseGraphProps) {
  const isOnPath = (from: string, to: string) => critical.some((slug, i) => slug === from && critical[i + 1] === to);
  const { width, height, nodes, edges } = useMemo(() => drawingOf(phases), [phases]);
  return (
    <section aria-label="Phases" tabIndex={0} className="overflow-x-auto border-b bg-surface p-3 -outline-offset-2">
      <div
        className="relative sm:[height:var(--h)] sm:[width:var(--w)]"
        style={{ '--h': `${height}px`, '--w': `${width}px` } as React.CSSProperties}
      >
        <svg
          aria-hidden="true"
          viewBox={`0 0 ${width} ${height}`}
          className="absolute inset-0 hidden sm:block"
          width={width}
          height={height}
          fill="none"
        >
          {edges.map(({ key, from, to, path }) => (
            <path
              key={key}
              d={path}
              stroke={isOnPath(from, to) ? 'var(--color-accent)' : 'var(--color-strong)'}
              strokeWidth={isOnPath(from, to) ? 2.5 : 1.2}
              strokeLinejoin="round"
            />
          ))}
        </svg>
        <ol className="space-y-1.5 sm:space-y-0">
          {nodes.map(({ phase, x, y }) => (
            <li
              key={phase.id}
              className="sm:absolute sm:[height:var(--nh)] sm:[left:var(--x)] sm:[top:var(--y)] sm:[width:var(--nw)]"
              style={
                {
                  '--x': `${x}px`,
                  '--y': `${y}px`,
                  '--nw': `${NODE.width}px`,
                  '--nh': `${NODE.height}px`,
                } as React.CSSProperties
              }
            >
              <Link
                from="/projects/$projectId"
                to="."
                search={{ phase: phase.phase_slug }}
                aria-current={phase.phase_slug === selected ? 'true' : undefined}
                className={cx(
                  'flex h-full min-h-11 flex-col justify-center gap-0.5 rounded-md border bg-surface px-2 text-sm hover:bg-raised',
                  phase.phase_slug === selected ? 'border-accent outline-1 outline-accent' : 'border-line',
                )}
              >
                <span className="flex items-center gap-1.5">
                  <Status status={phase.status} isIconOnly />
                  <span className="truncate font-medium">{phase.title}</span>
                </span>
                <span className="tabular flex justify-between pl-5.5 text-xs text-soft">
                  <span>
                    <Took from={phase.started_at} to={phase.completed_at} />
                  </span>
                  <span>{Number(phase.cost_usd) > 0 ? money(phase.cost_usd) : ''}</span>
                </span>
              </Link>
            </li>
          ))}
        </ol>
      </div>
    </section>
  );
}
