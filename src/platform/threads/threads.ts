/**
 * The one pool of threads for work that grows with somebody's text: on the service's own thread it would keep every
 * request, heartbeat and workflow task waiting. A job has a limit of size and one of time; past either it alone fails,
 * and what comes next finds a thread as before.
 *
 * For activities, stores and services; workflow code has no threads and no such texts. Workspaces take turns, and one
 * workspace never has every thread.
 */
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Piscina } from 'piscina';
import { errorCodeOf } from '../core/causes.ts';
import { createFairSlots } from '../fairness/fair-slots.ts';
import { currentWorkspace } from '../fairness/workspace-context.ts';

/**
 * One core is left to the service's own thread, if there are more than three. With fewer than three threads the long job
 * of one workspace would keep those of all others waiting.
 */
const MAX_THREADS = Math.max(3, Math.min(4, availableParallelism() - 1));
/** Jobs that may take longer leave one thread to the others, for which a run or a request waits. */
const LONG_MS = 10_000;
/** An idle thread holds some 50 MB, and takes a third of a second to make again. */
const IDLE_MS = 60_000;
/** Limits a thread: a job that wants more ends with its thread. */
const MEMORY = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 64 };
/**
 * So many jobs may wait for a thread. Beyond it the service is swamped, and each would wait longer than anybody does
 * for it.
 */
const MAX_WAITING = 1_000;

export interface Job<Input, Output> {
  /** The module whose function of this name does the work, on values that can be copied from thread to thread. */
  module: URL;
  name: string;
  /** Messages of failures call the job by this title, such as `rendering`. */
  title: string;
  timeoutMs: number;
  /** It is never set, and only ties the types to the job. */
  readonly types?: (input: Input) => Output;
}

/** A job that took too long or wanted too much; the same one again would fail in the same way. */
export class ThreadLimitError extends Error {
  override name = 'ThreadLimitError';
}

let pool: Promise<Piscina> | undefined;
const slots = createFairSlots(MAX_THREADS, MAX_WAITING);
const longSlots = createFairSlots(MAX_THREADS - 1, MAX_WAITING);

/** The pool is loaded with the first job, so that a process without one pays nothing. */
async function makePool(): Promise<Piscina> {
  const { Piscina } = await import('piscina');
  return new Piscina({
    minThreads: 0,
    maxThreads: MAX_THREADS,
    idleTimeout: IDLE_MS,
    resourceLimits: MEMORY,
    // The thread needs no setting of the service.
    env: {},
    argv: [],
    execArgv: [],
  });
}

/**
 * Runs the job in a thread, for the workspace of the current request or activity.
 * @throws ThreadLimitError, SlotsFullError; otherwise whatever the job throws, as an error with the same message
 */
export function runInThread<Input, Output>(
  job: Job<Input, Output>,
  input: Input,
  signal?: AbortSignal,
): Promise<Output> {
  const workspace = currentWorkspace();
  // The time of a job begins when it has its slot, because waiting for others is no fault of its own.
  const run = () => slots.run(workspace, () => runNow(job, input, signal), signal);
  return job.timeoutMs > LONG_MS ? longSlots.run(workspace, run, signal) : run();
}

async function runNow<Input, Output>(
  { module, name, title, timeoutMs }: Job<Input, Output>,
  input: Input,
  signal: AbortSignal | undefined,
): Promise<Output> {
  signal?.throwIfAborted();
  const timeout = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  try {
    const threads = await (pool ??= makePool());
    timer = setTimeout(() => timeout.abort(), timeoutMs);
    return (await threads.run(input, {
      filename: fileURLToPath(module),
      name,
      signal: signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal,
    })) as Output;
  } catch (error) {
    signal?.throwIfAborted();
    if (timeout.signal.aborted) {
      throw new ThreadLimitError(
        `${title} took longer than ${timeoutMs / 1_000} seconds: give it less or simpler text`,
      );
    }
    if (errorCodeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY') {
      throw new ThreadLimitError(`${title} needs more memory than it may have: give it less text`);
    }
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Ends the threads when they have done what they have begun. A later job starts new ones. */
export async function closeThreads(): Promise<void> {
  const open = pool;
  pool = undefined;
  await (await open)?.close();
}
