/** The pool of threads: a job that asks too much fails alone. */
import { afterAll, expect, test } from '@jest/globals';
import { closeThreads, runInThread, ThreadLimitError, type Job } from '../../../src/platform/threads/threads.ts';
import { forWorkspace } from '../../../src/platform/fairness/workspace-context.ts';
import type * as Jobs from './jobs.ts';

const MB = 1_024 * 1_024;

afterAll(closeThreads);

const job = (name: keyof typeof Jobs, timeoutMs = 60_000): Job<unknown, unknown> => ({
  name,
  title: `the ${name} job`,
  timeoutMs,
  module: new URL('./jobs.ts', import.meta.url),
});

// Guards: work is done in threads, several pieces at a time as well as one after the other.
test('does what it is given', async () => {
  const numbers = Array.from({ length: 20 }, (_, at) => at);
  await expect(Promise.all(numbers.map((number) => runInThread(job('double'), number)))).resolves.toEqual(
    numbers.map((number) => number * 2),
  );
});

// Guards: a caller that asks too much is refused, and those before and after it are served.
test.each([
  ['spin', 2_000, /^the spin job took longer than 2 seconds/],
  ['hoard', 60_000, /^the hoard job needs more memory/],
] as const)('a job that is past its limits fails alone: %s', async (name, timeoutMs, message) => {
  const beside = Promise.all([1, 2, 3].map((number) => runInThread(job('double'), number)));
  const failed = await runInThread(job(name, timeoutMs), undefined).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(ThreadLimitError);
  expect((failed as Error).message).toMatch(message);
  await expect(beside).resolves.toEqual([2, 4, 6]);
  await expect(runInThread(job('double'), 21)).resolves.toBe(42);
});

// Guards: the memory limit belongs to the job, whatever the machine has.
test('a job that wants too much takes little of the machine', async () => {
  const before = process.memoryUsage.rss();
  let grown = 0;
  const watch = setInterval(() => (grown = Math.max(grown, process.memoryUsage.rss() - before)), 10);
  await expect(runInThread(job('hoard'), undefined)).rejects.toThrow(ThreadLimitError);
  clearInterval(watch);
  expect(grown).toBeLessThan(1_024 * MB);
});

// Guards: jobs that may take long keep no short job waiting, however many there are.
test('a short job is not behind the long ones', async () => {
  const controller = new AbortController();
  const long = Array.from({ length: 10 }, () => runInThread(job('spin'), undefined, controller.signal));
  await expect(runInThread(job('double', 10_000), 3)).resolves.toBe(6);
  controller.abort();
  expect((await Promise.allSettled(long)).map(({ status }) => status)).toEqual(long.map(() => 'rejected'));
});

// Guards: the long jobs of one workspace hold up no job of another, and its short ones neither.
test.each([60_000, 10_000])('jobs of %i ms of one workspace leave a thread to another', async (timeoutMs) => {
  const controller = new AbortController();
  const many = forWorkspace('busy', () =>
    Array.from({ length: 10 }, () => runInThread(job('spin', timeoutMs), undefined, controller.signal)),
  );
  await expect(forWorkspace('other', () => runInThread(job('double', timeoutMs), 3))).resolves.toBe(6);
  controller.abort();
  await Promise.allSettled(many);
});

// Guards: the thread of a job that nobody waits for any more is ended, however many there are.
test('a job ends with its caller', async () => {
  const reason = new Error('cancelled');
  const jobs = Array.from({ length: 5 }, async () => {
    const controller = new AbortController();
    const spinning = runInThread(job('spin'), undefined, controller.signal);
    setImmediate(() => controller.abort(reason));
    await expect(spinning).rejects.toBe(reason);
  });
  await Promise.all(jobs);
  await expect(runInThread(job('double'), 4)).resolves.toBe(8);
});

// Guards: a fault of the work is reported in its own words, and not as a limit.
test('a failure is passed on', async () => {
  const failed = await runInThread(job('refuse'), undefined).catch((error: unknown) => error);
  expect(failed).not.toBeInstanceOf(ThreadLimitError);
  expect((failed as Error).message).toBe('not this one');
});

// Guards: a process that goes on after its services were closed gets new threads.
test('works again after it was closed', async () => {
  await closeThreads();
  await expect(runInThread(job('double'), 5)).resolves.toBe(10);
});
