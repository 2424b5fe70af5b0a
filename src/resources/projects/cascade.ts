/** What a change of one phase's artifact does to the phases behind it. Pure. */
import type { Cascade, TaskStatus } from './model.ts';

export interface CascadePhase {
  slug: string;
  dependsOn: readonly string[];
  status: TaskStatus;
  /** What its template says of upstream changes. */
  mode: 'lazy' | 'strict' | 'none';
}

export interface CascadePlan {
  /** Every phase downstream that the change reaches, in pipeline order. */
  affected: string[];
  markStale: string[];
  rerun: string[];
  /** Reached, but left as they are. */
  skipped: string[];
  /** All phases whose artifact is going to be another one: the changed one, and those that run or ran after it. */
  reached: string[];
}

/**
 * What a change of one phase's artifact does downstream. `lazy` marks what consumed it stale, `strict` runs it again,
 * `none` leaves it; `default` asks each phase. Phases that have not begun consume the new version anyway.
 * @param phases in an order in which no phase stands before one it depends on
 */
export function planCascade(phases: readonly CascadePhase[], changed: string, cascade: Cascade): CascadePlan {
  const plan: CascadePlan = { affected: [], markStale: [], rerun: [], skipped: [], reached: [changed] };
  for (const { slug, dependsOn, status, mode } of phases) {
    if (slug === changed || !dependsOn.some((each) => plan.reached.includes(each))) continue;
    const wanted = cascade === 'default' ? mode : cascade;
    const isToRun = status === 'pending' || (wanted === 'lazy' && (status === 'failed' || status === 'skipped'));
    if (isToRun) {
      // What it consumed is seen when it ends. What was made from its own artifact before is reached through it.
      plan.reached.push(slug);
      continue;
    }
    if (wanted === 'none') {
      // Its own artifact stays, so what follows from it is not reached through it.
      plan.skipped.push(slug);
      continue;
    }
    plan.reached.push(slug);
    plan.affected.push(slug);
    (wanted === 'strict' ? plan.rerun : plan.markStale).push(slug);
  }
  return plan;
}
