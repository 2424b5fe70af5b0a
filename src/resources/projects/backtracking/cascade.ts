/** Decides what a change of one phase's artifact does to the phases behind it. Pure. */
import type { Cascade, TaskStatus } from '../model.ts';

export interface CascadePhase {
  slug: string;
  dependsOn: readonly string[];
  status: TaskStatus;
  /** What the phase's template says about changes of earlier phases. */
  mode: 'lazy' | 'strict' | 'none';
}

export interface CascadePlan {
  /** Every phase downstream that the change reaches, in pipeline order. */
  affected: string[];
  markStale: string[];
  rerun: string[];
  /** The change reaches these phases, and they are left as they are. */
  skipped: string[];
  /** All phases that will have another artifact: the changed one, and those that run or ran after it. */
  reached: string[];
}

/**
 * Plans what a change of one phase's artifact does downstream. `lazy` marks the phases that consumed it stale, `strict`
 * runs them again, `none` leaves them; `default` asks each phase. Phases that have not begun consume the new version in
 * any case.
 * @param phases are in an order in which no phase stands before one that it depends on
 */
export function planCascade(phases: readonly CascadePhase[], changed: string, cascade: Cascade): CascadePlan {
  const plan: CascadePlan = { affected: [], markStale: [], rerun: [], skipped: [], reached: [changed] };
  for (const { slug, dependsOn, status, mode } of phases) {
    if (slug === changed || !dependsOn.some((each) => plan.reached.includes(each))) continue;
    const wanted = cascade === 'default' ? mode : cascade;
    const isToRun = status === 'pending' || (wanted === 'lazy' && (status === 'failed' || status === 'skipped'));
    if (isToRun) {
      // The versions that this phase consumed are checked when it ends. Phases that used its earlier artifact are
      // reached through it.
      plan.reached.push(slug);
      continue;
    }
    if (wanted === 'none') {
      // This phase keeps its artifact, so the change does not reach the phases behind it through this one.
      plan.skipped.push(slug);
      continue;
    }
    plan.reached.push(slug);
    plan.affected.push(slug);
    (wanted === 'strict' ? plan.rerun : plan.markStale).push(slug);
  }
  return plan;
}
