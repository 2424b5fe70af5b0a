/** Tells which phases decided how long a project took, and what running phases would cost. Pure. */
import { decimalUsd } from '../../../platform/core/text.ts';

export interface TimedPhase {
  slug: string;
  dependsOn: readonly string[];
  /** Of its latest start, in milliseconds; null where it has not begun. */
  startedMs: number | null;
  /** Null for a phase under way. */
  endedMs: number | null;
}

interface PhaseOnPath {
  slug: string;
  isCritical: boolean;
  /** Null where the phase has not begun. */
  tookMs: number | null;
  /** How much later the phase could have ended without the project ending later; null where it has not begun. */
  slackMs: number | null;
}

/**
 * Finds the critical path: the phase that ended last, before it the one of its dependencies that ended last, and so on.
 * Every other phase could have taken its slack longer.
 * @param phases are in an order in which no phase stands before one that it depends on
 * @param nowMs ends the phases that are under way
 * @returns `path` from the first phase to the last, and `phases` in the order in which they came
 */
export function criticalPath(phases: readonly TimedPhase[], nowMs: number): { path: string[]; phases: PhaseOnPath[] } {
  const begun = new Map(
    phases.flatMap(({ slug, dependsOn, startedMs, endedMs }) => {
      if (startedMs === null) return [];
      const end = Math.max(endedMs ?? nowMs, startedMs);
      return [[slug, { slug, dependsOn, start: startedMs, end }] as const];
    }),
  );
  type Begun = NonNullable<ReturnType<typeof begun.get>>;
  const latest = (of: Iterable<Begun>): Begun | undefined =>
    [...of].reduce<Begun | undefined>((last, each) => (last && last.end >= each.end ? last : each), undefined);

  const path: string[] = [];
  for (let at = latest(begun.values()); at; at = latest(at.dependsOn.flatMap((slug) => begun.get(slug) ?? []))) {
    path.unshift(at.slug);
  }

  // A phase may end as late as the earliest of those that depend on it may begin.
  const lastEnd = latest(begun.values())?.end ?? nowMs;
  const mayEnd = new Map<string, number>();
  for (const { slug, start, end, dependsOn } of [...begun.values()].reverse()) {
    const limit = mayEnd.get(slug) ?? lastEnd;
    const mayBegin = start + Math.max(0, limit - end);
    for (const name of dependsOn) mayEnd.set(name, Math.min(mayEnd.get(name) ?? Infinity, mayBegin));
  }
  return {
    path,
    phases: phases.map(({ slug }) => {
      const one = begun.get(slug);
      if (!one) return { slug, isCritical: false, tookMs: null, slackMs: null };
      const isCritical = path.includes(slug);
      const slackMs = isCritical ? 0 : Math.max(0, (mayEnd.get(slug) ?? lastEnd) - one.end);
      return { slug, isCritical, tookMs: one.end - one.start, slackMs };
    }),
  };
}

/** What an estimate rests on: this project's own last run of the phase, earlier projects, or other runs of its agents. */
export const BASES = ['this_project', 'earlier_projects', 'agents', 'nothing'] as const;
type Basis = (typeof BASES)[number];

/** Costs in US dollars. */
export interface PastCosts {
  /** Of the latest start of the phase in this project; null where that has not ended. */
  ownUsd: number | null;
  /** Of the phase in completed projects of the same workflow, one each. */
  earlierUsd: readonly number[];
  /** The mean of the recent runs of each agent that has a step in the phase; null for an agent that never ran. */
  agentsUsd: readonly (number | null)[];
}

export interface CostEstimate {
  /** Null where nothing is known. */
  usd: string | null;
  lowUsd: string | null;
  highUsd: string | null;
  basis: Basis;
  samples: number;
}

const UNKNOWN: CostEstimate = { usd: null, lowUsd: null, highUsd: null, basis: 'nothing', samples: 0 };

/**
 * Estimates what one phase will cost. Its own last run comes first, because it had the same brief; then what it cost in
 * earlier projects; then what its agents cost elsewhere.
 */
export function estimateCost({ ownUsd, earlierUsd, agentsUsd }: PastCosts): CostEstimate {
  const spread = (of: readonly number[]) => ({
    lowUsd: decimalUsd(Math.min(...of)),
    highUsd: decimalUsd(Math.max(...of)),
  });
  if (ownUsd !== null) {
    return { usd: decimalUsd(ownUsd), ...spread([ownUsd, ...earlierUsd]), basis: 'this_project', samples: 1 };
  }
  if (earlierUsd.length > 0) {
    const mean = earlierUsd.reduce((sum, usd) => sum + usd, 0) / earlierUsd.length;
    return { usd: decimalUsd(mean), ...spread(earlierUsd), basis: 'earlier_projects', samples: earlierUsd.length };
  }
  const known = agentsUsd.flatMap((usd) => usd ?? []);
  if (known.length === 0) return UNKNOWN;
  const usd = decimalUsd(known.reduce((sum, each) => sum + each, 0));
  return { usd, lowUsd: usd, highUsd: usd, basis: 'agents', samples: known.length };
}

/** @returns the sum of what is known; null where nothing is */
export function sumOf(amounts: readonly (string | null)[]): string | null {
  const known = amounts.flatMap((usd) => (usd === null ? [] : Number(usd)));
  return known.length === 0 ? null : decimalUsd(known.reduce((sum, usd) => sum + usd, 0));
}
