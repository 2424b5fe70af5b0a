/**
 * Keeps activities alive while Postgres is away. How often one is tried is decided for the model or the tool that it
 * asks (`workflows/shared/activities.ts`), and a database that restarts would use that up within seconds. So an attempt
 * that the database failed ends when the database answers again, or when its own time is over: an outage costs one
 * attempt for each 15 minutes (a model call) or 10 minutes (a tool) that it lasts. Model calls thereby outlast more
 * than an hour; an irreversible tool has one attempt only, and is not done a second time because its outcome could not
 * be recorded.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Context } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { isDatabaseAway } from '../src/platform/db/away.ts';
import { heartbeating } from './failures.ts';

const LOOK_EVERY_MS = 1_000;

interface OutlastingOptions {
  /** It rejects while the database is away. */
  ping: () => Promise<unknown>;
  lookEveryMs?: number;
}

/** It has to be the innermost interceptor, because those around it see other errors. */
export const outlastingDatabase =
  ({ ping, lookEveryMs = LOOK_EVERY_MS }: OutlastingOptions): ActivityInterceptorsFactory =>
  (context) => ({
    inbound: {
      async execute(input, next) {
        try {
          return await next(input);
        } catch (error) {
          // Local activities are tried for as long as it takes, in the workflow task of their workflow.
          if (isDatabaseAway(error) && !context.info.isLocal) await untilBack(context, ping, lookEveryMs);
          throw error;
        }
      },
    },
  });

/**
 * Waits until the database is back, or until nobody waits for the activity any more: it is cancelled, the worker stops,
 * or its time is over.
 */
async function untilBack(
  context: Pick<Context, 'cancellationSignal' | 'heartbeat'>,
  ping: () => Promise<unknown>,
  lookEveryMs: number,
): Promise<void> {
  const beating = setInterval(() => context.heartbeat(), lookEveryMs);
  try {
    while (!context.cancellationSignal.aborted) {
      if (await isBack(ping)) return;
      await wait(lookEveryMs);
    }
  } finally {
    clearInterval(beating);
  }
}

const isBack = (ping: () => Promise<unknown>): Promise<boolean> =>
  ping().then(
    () => true,
    () => false,
  );

/** A record is tried for so long when nobody waits for the activity any more. */
const LAST_TRIES_MS = 10_000;

/**
 * Records what has happened: a tool's effect, a reply that is paid for. Whoever gave up here would have it happen again,
 * or leave nobody knowing whether it did. So a call that was cancelled is given seconds more to record what it cost.
 * @param write does nothing where it has been carried out before
 */
export const untilRecorded = <T>(write: () => Promise<T>, retryEveryMs = LOOK_EVERY_MS): Promise<T> =>
  heartbeating(async (signal) => {
    for (let last = Infinity; ;) {
      try {
        return await write();
      } catch (error) {
        if (signal.aborted) last = Math.min(last, performance.now() + LAST_TRIES_MS);
        if (!isDatabaseAway(error) || performance.now() >= last) throw error;
        await wait(retryEveryMs);
      }
    }
  });
