/** The chores of housekeeping. Each comes to an end that does not depend on what it asks. */
import type { Log } from '../src/platform/core/log.ts';
import type { Meters } from '../src/platform/observability/meters.ts';
import { orAfter } from '../src/platform/temporal/problems.ts';
import type { Chore } from '../workflows/housekeeper/chores.ts';
import { heartbeating } from './failures.ts';

/** The work stops soon after `signal` does; what is left is for the next time. */
type Work = (signal: AbortSignal) => Promise<unknown>;

/** A chore is asked to stop at the first time and given up at the second; both lie before the end of its activity. */
export interface ChoreLimits {
  stopMs: number;
  giveUpMs: number;
}
const ALONE: ChoreLimits = { stopMs: 15_000, giveUpMs: 25_000 };
const TOGETHER: ChoreLimits = { stopMs: 1_000, giveUpMs: 3_000 };

export interface HousekeepingDependencies {
  chores: Record<Chore, Work>;
  meters: Pick<Meters, 'chores'>;
  /** Takes out of Temporal's lists what nobody looks for. @param runId an execution of housekeeping that is over */
  tidy: (runId: string) => Promise<void>;
  log: Log;
  /** With a chore that has an activity of its own. */
  alone?: ChoreLimits;
  /** With one of several chores of an activity. */
  together?: ChoreLimits;
}

export const createHousekeepingActivities = (deps: HousekeepingDependencies) => {
  const { chores, meters, tidy, log, alone = ALONE, together = TOGETHER } = deps;

  /** @throws where it fails, or does not end in time */
  const inTime = (work: Work, signal: AbortSignal, { stopMs, giveUpMs }: ChoreLimits): Promise<unknown> =>
    orAfter(giveUpMs, work(AbortSignal.any([signal, AbortSignal.timeout(stopMs)])), () => {
      throw new Error(`it has not ended within ${giveUpMs} ms`);
    });

  function stopwatchOf(chore: Chore) {
    const startedAt = performance.now();
    const ms = () => performance.now() - startedAt;
    return { ms, end: (outcome: 'done' | 'failed') => meters.chores.observe({ chore, outcome }, ms() / 1_000) };
  }

  async function keep(chore: Chore, work: Work): Promise<void> {
    const stopwatch = stopwatchOf(chore);
    try {
      await heartbeating((signal) => inTime(work, signal, alone));
      stopwatch.end('done');
    } catch (err) {
      stopwatch.end('failed');
      log.error({ err, chore }, 'a chore of housekeeping failed');
      throw err;
    }
  }

  /** @returns whether it has done all it had to, quickly */
  async function keepQuickly(chore: Chore, signal: AbortSignal): Promise<boolean> {
    const stopwatch = stopwatchOf(chore);
    try {
      await inTime(chores[chore], signal, together);
    } catch (err) {
      log.debug({ err, chore }, 'a chore is left to an activity of its own');
      return false;
    }
    // It was asked to stop, so there may be more to do.
    if (stopwatch.ms() >= together.stopMs) return false;
    stopwatch.end('done');
    return true;
  }

  const activities = Object.fromEntries(
    Object.entries(chores).map(([chore, work]) => [chore, () => keep(chore as Chore, work)]),
  ) as Record<Chore, () => Promise<void>>;

  return {
    ...activities,

    /**
     * Does these side by side, each for a moment.
     * @returns those that failed, or may have more to do: each is to have an activity of its own
     */
    doTogether: ({ chores: asked }: { chores: readonly Chore[] }): Promise<{ left: Chore[] }> =>
      heartbeating(async (signal) => {
        const areDone = await Promise.all(asked.map((chore) => keepQuickly(chore, signal)));
        return { left: asked.filter((_, n) => !areDone[n]) };
      }),

    tidyWorkflowList: ({ runId }: { runId: string }): Promise<void> => tidy(runId),
  };
};
