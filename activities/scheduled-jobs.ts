/** Does what a tick of a scheduled job or heartbeat asks for: it reads the row and accepts a run. */
import { newRunId } from '../src/platform/core/ids.ts';
import type { Log } from '../src/platform/core/log.ts';
import { present } from '../src/platform/core/present.ts';
import { Problem } from '../src/platform/core/problem.ts';
import type { HeartbeatStore } from '../src/resources/heartbeats/store.ts';
import type { RunStore } from '../src/resources/runs/store/index.ts';
import type { BuiltinRunner } from '../src/resources/scheduled-jobs/runner.ts';
import { customJobId } from '../src/resources/scheduled-jobs/model.ts';
import type { JobStore } from '../src/resources/scheduled-jobs/store.ts';
import type { ScheduledJobInput } from '../workflows/scheduled-job/messages.ts';
import { heartbeating } from './failures.ts';

export interface ScheduledJobDependencies {
  runs: RunStore;
  jobs: Pick<JobStore, 'find' | 'noteMissed' | 'isMissed'>;
  heartbeats: Pick<HeartbeatStore, 'find'>;
  /** Runs the jobs that ship with the product. */
  builtin: BuiltinRunner;
  log: Log;
}

interface Due {
  /** What it is in the log of the workspace. */
  firedBy: { id: string; of: 'job' | 'heartbeat' };
  agent: string;
  prompt: string;
  jobN?: number;
  override: Record<string, unknown> | null;
  outputSchema?: Record<string, unknown> | null;
}

type Source = ScheduledJobInput['source'];

export const createScheduledJobActivities = ({ runs, jobs, heartbeats, builtin, log }: ScheduledJobDependencies) => {
  /** @returns undefined where the row is switched off, or gone */
  async function dueOf(customerId: string, source: Source): Promise<Due | undefined> {
    if (source.kind === 'heartbeat') {
      const row = await heartbeats.find(customerId, source.id);
      if (!row?.enabled) return undefined;
      const firedBy = { id: source.id, of: 'heartbeat' as const };
      return { firedBy, agent: row.agentSlug, prompt: row.prompt, override: null };
    }
    if (source.kind === 'builtin') {
      const due = await builtin.dueRun(customerId, source.id);
      return due && { ...due, firedBy: { id: source.id, of: 'job' }, override: null };
    }
    const row = await jobs.find(customerId, source.n);
    if (!row?.enabled) return undefined;
    const override = {
      ...(row.model !== 'auto' && { model_override: row.model }),
      ...(row.reasoning !== null && { reasoning: row.reasoning }),
    };
    const { agentSlug: agent, brief: prompt, n: jobN, outputSchema } = row;
    const firedBy = { id: customJobId(jobN), of: 'job' as const };
    const asked = { override: Object.keys(override).length > 0 ? override : null, outputSchema };
    return { firedBy, agent, prompt, jobN, ...asked };
  }

  return {
    runSystemJob: ({ jobId, customerId }: { jobId: string; customerId: string }): Promise<void> =>
      heartbeating(() => builtin.runFor(customerId, jobId)),

    /** @returns where the next page begins; null after the last */
    runSystemJobForPage: ({ jobId, after }: { jobId: string; after: string }): Promise<string | null> =>
      heartbeating(async (signal) => (await builtin.runPage(jobId, after, signal)) ?? null),

    nameRun: async (): Promise<string> => newRunId(),

    /** @returns undefined where nothing is to run; the log says where it was refused */
    async acceptScheduledRun({
      customerId,
      source,
      runId,
    }: {
      customerId: string;
      source: Source;
      runId: string;
    }): Promise<{ agent: string } | undefined> {
      const earlier = await runs.findRun(customerId, runId);
      if (earlier) return { agent: present(earlier.agent) };
      // Refused, told so, and killed before Temporal knew: a run now would make what was told untrue.
      if (await jobs.isMissed(customerId, runId)) return undefined;
      const due = await dueOf(customerId, source);
      if (!due) return undefined;
      const { agent, ...what } = due;
      try {
        await runs.acceptRun({
          id: runId,
          customerId,
          agent,
          transport: 'cron',
          ...what,
          threadId: null,
          channelId: null,
          conversation: null,
        });
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        await jobs.noteMissed(customerId, runId, due.firedBy, error.code);
        log.warn({ customer_id: customerId, ...source, refusal: error.code }, 'a scheduled run was refused');
        return undefined;
      }
      return { agent };
    },
  };
};
