/** Does what jobs that ship do when their time has come. */
import type { Log } from '../../platform/core/log.ts';
import { builtinJobs } from './builtin/index.ts';
import type { Facts } from './builtin/facts.ts';
import type { OverrideStore } from './overrides.ts';

export type BuiltinRunner = ReturnType<typeof createBuiltinRunner>;

/** One activity takes care of so many workspaces. */
const PAGE = 500;

export const createBuiltinRunner = ({
  overrides,
  facts,
  log,
}: {
  overrides: OverrideStore;
  facts: Facts;
  log: Log;
}) => ({
  /** @returns undefined where the job is switched off, or is no job of an agent, or none any more */
  async dueRun(customerId: string, jobId: string): Promise<{ agent: string; prompt: string } | undefined> {
    const job = builtinJobs.get(jobId);
    const override = await overrides.find(customerId, jobId);
    if (job?.kind !== 'agent' || !override?.enabled) return undefined;
    return { agent: job.agent, prompt: await job.brief(facts, customerId) };
  },

  /** Runs the job in a workspace that changed it. */
  async runFor(customerId: string, jobId: string): Promise<void> {
    const job = builtinJobs.get(jobId);
    const override = await overrides.find(customerId, jobId);
    if (job?.kind !== 'system' || !(override?.enabled ?? job.enabled)) return;
    if (await overrides.isOpen(customerId)) await job.run(facts, customerId);
  },

  /**
   * Runs the job in the next workspaces of those that changed nothing about it. One that fails holds up no other.
   * @returns where to go on; undefined at the end
   */
  async runPage(jobId: string, after: string, signal: AbortSignal): Promise<string | undefined> {
    const job = builtinJobs.get(jobId);
    if (job?.kind !== 'system') return undefined;
    const page = await overrides.listWithout(jobId, after, PAGE);
    for (const customerId of page) {
      signal.throwIfAborted();
      await job
        .run(facts, customerId)
        .catch((err: unknown) => log.error({ err, customer_id: customerId, job_id: jobId }, 'a scheduled job failed'));
    }
    return page.length < PAGE ? undefined : page.at(-1);
  },
});
