/** Makes the failures of activities, and keeps long activities alive. */
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { RunFailure } from '../src/platform/core/problem.ts';
import type { ModelFailure } from '../src/platform/models/types.ts';

/** Makes a failure that no retry would change. Failure texts are history: they name causes and never carry content. */
export const fail = (code: RunFailure, message: string): ApplicationFailure =>
  ApplicationFailure.nonRetryable(message, code);

export const asApplicationFailure = ({ code, message, retryable, retryAfterMs }: ModelFailure): ApplicationFailure =>
  ApplicationFailure.create({
    type: code,
    message,
    nonRetryable: !retryable,
    // A delay of 0 tells Temporal not to retry at all; a provider that says 0 gets our own backoff.
    ...(retryAfterMs ? { nextRetryDelay: retryAfterMs } : {}),
  });

/** Beats come often enough that a cancelled call stops within a second; quick calls are spared the first one. */
const BEAT_MS = 1_000;
/**
 * Each beat is a write of Temporal. So of very many calls each beats more seldom, and all of them a hundred times a second
 * or, beyond 500, once in five seconds each: within the heartbeat timeout of every activity.
 */
const BEAT_MS_EACH = 10;
const LONGEST_BEAT_MS = 5_000;
let beating = 0;
const beatMs = (): number => Math.min(Math.max(BEAT_MS, BEAT_MS_EACH * beating), LONGEST_BEAT_MS);

/**
 * Runs work that may be long: it heartbeats, and its signal ends the work when the run is cancelled or the worker
 * stops.
 * @param left is told to the following attempt where the worker of this one dies
 */
export async function heartbeating<T>(work: (signal: AbortSignal) => Promise<T>, left?: unknown): Promise<T> {
  const context = Context.current();
  const beat = (): void => {
    context.heartbeat(left);
    timer = setTimeout(beat, beatMs());
  };
  beating += 1;
  let timer = setTimeout(beat, BEAT_MS);
  try {
    return await work(context.cancellationSignal);
  } finally {
    clearTimeout(timer);
    beating -= 1;
  }
}
