/** Does what a tick of a scheduled job or heartbeat asks for: it reads the row and accepts a run. */
import { once } from 'node:events';
import { newRunId } from '../src/platform/core/ids.ts';
import type { Log } from '../src/platform/core/log.ts';
import { Problem } from '../src/platform/core/problem.ts';
import type { HeartbeatStore } from '../src/resources/heartbeats/store.ts';
import type { RunStore } from '../src/resources/runs/store/index.ts';
import type { BuiltinRunner } from '../src/resources/scheduled-jobs/runner.ts';
import { customJobId } from '../src/resources/scheduled-jobs/model.ts';
import type { JobStore } from '../src/resources/scheduled-jobs/store.ts';
import type { FollowedRows, KnownTrigger, Triggers } from '../src/platform/temporal/triggers.ts';
import type { ScheduledJobInput } from '../workflows/scheduled-job/messages.ts';
import { heartbeating } from './failures.ts';

export interface ScheduledJobDependencies {
  runs: RunStore;
  jobs: Pick<JobStore, 'find' | 'noteMissed'>;
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
    const { agentSlug: agent, brief: prompt, n: jobN } = row;
    const firedBy = { id: customJobId(jobN), of: 'job' as const };
    return { firedBy, agent, prompt, jobN, override: Object.keys(override).length > 0 ? override : null };
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
      if (earlier) return { agent: earlier.agent! };
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
        await jobs.noteMissed(customerId, due.firedBy, error.code);
        log.warn({ customer_id: customerId, ...source, refusal: error.code }, 'a scheduled run was refused');
        return undefined;
      }
      return { agent };
    },
  };
};

export interface Reconciled extends FollowedRows {
  triggers: Triggers;
}

/**
 * Makes what is missing, changes what differs, removes what nobody wants. Rows are read after the list, so that
 * the schedule of one that has just been made is never taken for a stray. What there is no time for still differs the
 * next time; others come first then, so that those which fail keep nobody waiting.
 * @throws AggregateError of those that failed, after all others
 */
export async function reconcile(
  { triggers, prefix, wanted }: Reconciled,
  signal: AbortSignal,
): Promise<{ applied: number; removed: number }> {
  const known = await inTime(signal, knownBy(triggers, prefix, signal)).catch((error: unknown) => {
    // Schedules that were not seen would be taken for missing.
    throw signal.aborted ? new Error('the schedules could not be listed in time', { cause: error }) : error;
  });
  const rows = await wanted();
  const stale = rows.filter(({ scheduleId, revision, enabled }) => {
    const there = known.get(scheduleId);
    return !there || there.revision !== revision || there.paused === enabled;
  });
  const ids = new Set(rows.map(({ scheduleId }) => scheduleId));
  const strays = [...known.keys()].filter((id) => !ids.has(id));
  const failures: unknown[] = [];
  async function each<T>(all: readonly T[], change: (one: T) => Promise<void>): Promise<number> {
    let done = 0;
    for (const one of shuffled(all)) {
      if (signal.aborted) break;
      await inTime(signal, change(one)).then(
        () => done++,
        (error: unknown) => signal.aborted || failures.push(error),
      );
    }
    return done;
  }
  const applied = await each(stale, (trigger) => triggers.apply(trigger));
  const removed = await each(strays, (id) => triggers.remove(id));
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} schedules could not be changed`);
  return { applied, removed };
}

/** @returns the triggers by their ids */
async function knownBy(triggers: Triggers, prefix: string, signal: AbortSignal): Promise<Map<string, KnownTrigger>> {
  const known = new Map<string, KnownTrigger>();
  for await (const each of triggers.list(prefix)) {
    signal.throwIfAborted();
    known.set(each.scheduleId, each);
  }
  return known;
}

/** Waits for a call of Temporal while there is time. It goes on by itself, which does no harm: no call here depends on another. */
async function inTime<T>(signal: AbortSignal, call: Promise<T>): Promise<T> {
  const waited = new AbortController();
  const over = once(signal, 'abort', { signal: waited.signal }).then(() => {
    throw signal.reason;
  });
  return Promise.race([call, over]).finally(() => {
    over.catch(() => {});
    waited.abort();
  });
}

const shuffled = <T>(all: readonly T[]): T[] =>
  all
    .map((one) => ({ one, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ one }) => one);
