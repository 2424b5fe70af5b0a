/** Waits in a way that ends when nobody waits any more. */
import { WaitTimeoutError } from './errors.ts';

/** Limits a wait in time, and lets the caller end it early. */
export interface WaitOptions {
  /** Ends the wait. What is awaited goes on. */
  signal?: AbortSignal | undefined;
  /**
   * The limit of the whole wait, from now, in milliseconds.
   * @throws WaitTimeoutError
   */
  timeoutMs?: number | undefined;
}

/** Says how something is followed to its end. */
export interface EventOptions extends WaitOptions {
  /**
   * Asks for texts while models write them, where the service has a stream. A run whose texts nobody asks for does no
   * work for them.
   */
  text?: boolean | undefined;
}

/** @throws the reason of the signal */
export function delay(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal!.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

const FIRST_LOOK_MS = 200;
const LONGEST_BETWEEN_MS = 2_000;

/** Paces polling: pauses are short at first and then grow, and become short again when something new was seen. */
export function createPace(signal?: AbortSignal): { next(): Promise<void>; reset(): void } {
  let ms = FIRST_LOOK_MS;
  return {
    async next() {
      await delay(ms, signal);
      ms = Math.min(LONGEST_BETWEEN_MS, ms * 1.5);
    },
    reset() {
      ms = FIRST_LOOK_MS;
    },
  };
}

/**
 * Runs the work until the caller or the time limit ends it.
 * @param what names the awaited thing in the message
 */
export async function within<T>(
  options: WaitOptions,
  what: string,
  wait: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  const { ends, done } = endsOf(options, what);
  try {
    return await wait(ends);
  } finally {
    done();
  }
}

/** Does the same for work that yields its results one by one. */
export async function* eachWithin<T>(
  options: WaitOptions,
  what: string,
  follow: (signal: AbortSignal | undefined) => AsyncGenerator<T>,
): AsyncGenerator<T> {
  const { ends, done } = endsOf(options, what);
  try {
    yield* follow(ends);
  } finally {
    done();
  }
}

function endsOf({ signal, timeoutMs }: WaitOptions, what: string): { ends: AbortSignal | undefined; done: () => void } {
  if (timeoutMs === undefined) return { ends: signal, done: () => {} };
  const timer = new AbortController();
  const late = new WaitTimeoutError(`${what} did not end within ${timeoutMs} ms`);
  const timeout = setTimeout(() => timer.abort(late), timeoutMs);
  return { ends: signal ? AbortSignal.any([signal, timer.signal]) : timer.signal, done: () => clearTimeout(timeout) };
}
