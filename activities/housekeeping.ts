/** The chores of housekeeping. Each comes to an end that does not depend on what it asks. */
import { ApplicationFailure } from '@temporalio/common';
import type { Log } from '../src/platform/core/log.ts';
import type { Meters } from '../src/platform/observability/meters.ts';
import { orAfter } from '../src/platform/temporal/problems.ts';
import type { Chore } from '../workflows/housekeeping/messages.ts';
import { heartbeating } from './failures.ts';

/** The work stops soon after `signal` does; what is left is for the next time. */
type Work = (signal: AbortSignal) => Promise<unknown>;

export interface HousekeepingDependencies {
  chores: Record<Chore, Work>;
  meters: Pick<Meters, 'chores'>;
  /** Takes out of Temporal's lists what nobody looks for. @param runId an execution of housekeeping that is over */
  tidy: (runId: string | undefined) => Promise<void>;
  log: Log;
  /** A chore is given up after this time. */
  giveUpMs?: number;
}

/** A chore is asked to stop at the first time and given up at the second; both lie before the end of its activity. */
const STOP_MS = 15_000;
const GIVE_UP_MS = 25_000;

export const createHousekeepingActivities = (deps: HousekeepingDependencies) => {
  const { chores, meters, tidy, log, giveUpMs = GIVE_UP_MS } = deps;

  async function keep(chore: Chore, work: Work): Promise<void> {
    const startedAt = performance.now();
    const end = (outcome: 'done' | 'failed') =>
      meters.chores.observe({ chore, outcome }, (performance.now() - startedAt) / 1_000);
    try {
      await heartbeating((signal) =>
        orAfter(giveUpMs, work(AbortSignal.any([signal, AbortSignal.timeout(STOP_MS)])), () => {
          throw new Error(`it has not ended within ${giveUpMs} ms`);
        }),
      );
      end('done');
    } catch (err) {
      end('failed');
      log.error({ err, chore }, 'a chore of housekeeping failed');
      throw err;
    }
  }

  const activities = Object.fromEntries(
    Object.entries(chores).map(([chore, work]) => [chore, () => keep(chore as Chore, work)]),
  ) as Record<Chore, () => Promise<void>>;

  return {
    ...activities,

    /** The schedules of earlier releases, whose ticks housekeeping does itself, and the execution before the last. */
    tidyWorkflowList: ({ runId }: { runId?: string }): Promise<void> => tidy(runId),

    /** Ticks that began before each chore was an activity call this. */
    async keepHouse(): Promise<void> {
      const done = await Promise.allSettled(Object.values(activities).map((chore) => chore()));
      if (done.some(({ status }) => status === 'rejected')) {
        throw ApplicationFailure.nonRetryable('some failed: the log says which', 'chores_failed');
      }
    },
  };
};
