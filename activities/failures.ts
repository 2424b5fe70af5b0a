/** How activities fail, and how long ones stay alive. */
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { RunFailure } from '../src/platform/core/problem.ts';
import type { ModelFailure } from '../src/platform/models/types.ts';

/** An end that no retry would change. Failure texts are history: they name causes and never carry content. */
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

/** Often enough that a cancelled call stops within a second; the first beat is spared for calls that are quick. */
const BEAT_MS = 1_000;

/**
 * Runs work that may be long: heartbeats, and the signal that ends it when the run is cancelled or the worker stops.
 * @param left what the attempt that follows is told where this one's worker dies
 */
export async function heartbeating<T>(work: (signal: AbortSignal) => Promise<T>, left?: unknown): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(left), BEAT_MS);
  try {
    return await work(context.cancellationSignal);
  } finally {
    clearInterval(timer);
  }
}
