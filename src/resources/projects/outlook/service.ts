/** Tells a caller which phases decide how long a project takes, and what a command would run and cost. */
import { found } from '../../../platform/db/client.ts';
import type { Caller } from '../../../platform/http/endpoint.ts';
import { planCascade } from '../backtracking/cascade.ts';
import { isDone } from '../model.ts';
import type { ProjectStore } from '../store/index.ts';
import type { EstimateQuery } from './contract.ts';
import { criticalPath, estimateCost, sumOf } from './model.ts';
import type { OutlookStore } from './store.ts';

export type ProjectOutlook = ReturnType<typeof createProjectOutlook>;

interface Dependencies {
  store: OutlookStore;
  projects: Pick<ProjectStore, 'findProjectState'>;
}

const msOf = (at: string | null): number | null => (at === null ? null : new Date(at).getTime());

export const createProjectOutlook = ({ store, projects }: Dependencies) => {
  /** @throws Problem not_found */
  async function phasesOf({ customerId }: Caller, projectId: string) {
    found(await projects.findProjectState(customerId, projectId));
    return store.phases(customerId, projectId);
  }

  return {
    async criticalPath(caller: Caller, projectId: string) {
      const phases = await phasesOf(caller, projectId);
      const now = Date.now();
      const timed = phases.map(({ slug, dependsOn, status, startedAt, completedAt }) => ({
        slug,
        dependsOn,
        // A phase that is to run again still has the times of its run before.
        startedMs: status === 'pending' ? null : msOf(startedAt),
        endedMs: msOf(completedAt),
      }));
      const { path, phases: placed } = criticalPath(timed, now);
      const begun = timed.flatMap(({ startedMs, endedMs }) =>
        startedMs === null ? [] : { start: startedMs, end: endedMs ?? now },
      );
      return {
        project_id: projectId,
        path,
        took_ms:
          begun.length === 0
            ? null
            : Math.max(...begun.map(({ end }) => end)) - Math.min(...begun.map(({ start }) => start)),
        phases: phases.map((phase, i) => ({
          phase_slug: phase.slug,
          title: phase.title,
          status: phase.status,
          started_at: phase.startedAt,
          completed_at: phase.completedAt,
          is_critical: placed[i]?.isCritical ?? false,
          took_ms: placed[i]?.tookMs ?? null,
          slack_ms: placed[i]?.slackMs ?? null,
          waited_ms: Math.round(Math.min(phase.waitedMs, placed[i]?.tookMs ?? 0)),
        })),
      };
    },

    async estimate(caller: Caller, projectId: string, { of, phase_slug: slug, cascade }: EstimateQuery) {
      const { customerId } = caller;
      const phases = await phasesOf(caller, projectId);
      const { again, stale } = planOf();
      const costs = await store.costs(customerId, projectId, again);
      const titles = new Map(phases.map((phase) => [phase.slug, phase.title]));
      const rows = costs.map(({ slug: each, ...past }) => {
        const { usd, lowUsd, highUsd, basis, samples } = estimateCost(past);
        return {
          phase_slug: each,
          title: titles.get(each) ?? each,
          cost_usd: usd,
          low_usd: lowUsd,
          high_usd: highUsd,
          basis,
          samples,
        };
      });
      return {
        project_id: projectId,
        phases: rows,
        marked_stale: stale,
        cost_usd: sumOf(rows.map(({ cost_usd: usd }) => usd)),
        low_usd: sumOf(rows.map(({ low_usd: usd }) => usd)),
        high_usd: sumOf(rows.map(({ high_usd: usd }) => usd)),
        budget_left_usd: await store.budgetLeft(customerId, projectId),
      };

      function planOf(): { again: string[]; stale: string[] } {
        if (of === 'resume') {
          return { again: phases.filter(({ status }) => !isDone(status)).map((phase) => phase.slug), stale: [] };
        }
        const phase = found(phases.find((each) => each.slug === slug));
        const { rerun, markStale } = planCascade(phases, phase.slug, cascade);
        return { again: of === 'revert' ? rerun : [phase.slug, ...rerun], stale: markStale };
      }
    },
  };
};
