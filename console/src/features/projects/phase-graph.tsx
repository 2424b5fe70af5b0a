/** Shows the phases of a project, what each waits for, and which of them decide how long all of it takes. */
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { money } from '../../ui/figures.ts';
import { Graph, nodeClass } from '../../ui/graph.tsx';
import { Status } from '../../ui/status.tsx';
import { Took } from '../../ui/time.tsx';
import type { Phase } from './types.ts';

interface PhaseGraphProps {
  phases: readonly Phase[];
  selected: string | undefined;
  /** The slugs of the critical path, in its order. */
  critical: readonly string[];
}

const slugOf = ({ phase_slug: slug }: Phase): string => slug;

export function PhaseGraph({ phases, selected, critical }: PhaseGraphProps) {
  const edges = useMemo(
    () => phases.flatMap((phase) => phase.depends_on.map((from) => ({ from, to: slugOf(phase) }))),
    [phases],
  );
  return (
    <Graph
      label="Phases"
      nodes={phases}
      keyOf={slugOf}
      edges={edges}
      isMarked={({ from, to }) => critical.some((slug, i) => slug === from && critical[i + 1] === to)}
    >
      {(phase) => (
        <Link
          from="/projects/$projectId"
          to="."
          search={{ phase: phase.phase_slug }}
          aria-current={phase.phase_slug === selected ? 'true' : undefined}
          className={nodeClass(phase.phase_slug === selected)}
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
      )}
    </Graph>
  );
}
