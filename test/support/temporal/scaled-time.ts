/**
 * An interceptor of workflows on whose workers a day takes a second: what they wait for by the clock is over so much
 * sooner, that is their timers and the intervals between the attempts of an activity. How long one attempt may take is
 * left as it is, because its work takes the time that it takes. The commands are those of any other worker but for these
 * numbers, so that histories made here replay without this. Only the bundle of a proof has it.
 */
import type { RetryPolicy } from '@temporalio/common';
import { msToNumber } from '@temporalio/common/lib/time.js';
import type { WorkflowInterceptorsFactory } from '@temporalio/workflow';

export const DAY_MS = 86_400_000;
/** How long a day takes. */
export const SCALED_DAY_MS = 1_000;
const scaled = (ms: number): number => (ms * SCALED_DAY_MS) / DAY_MS;

export const interceptors: WorkflowInterceptorsFactory = () => ({
  outbound: [
    {
      startTimer: (input, next) => next({ ...input, durationMs: scaled(input.durationMs) }),
      scheduleActivity: (input, next) =>
        next({
          ...input,
          options: { ...input.options, ...(input.options.retry && { retry: scaledRetry(input.options.retry) }) },
        }),
    },
  ],
});

const scaledRetry = ({ initialInterval, maximumInterval, ...retry }: RetryPolicy): RetryPolicy => ({
  ...retry,
  ...(initialInterval !== undefined && { initialInterval: scaled(msToNumber(initialInterval)) }),
  ...(maximumInterval !== undefined && { maximumInterval: scaled(msToNumber(maximumInterval)) }),
});
