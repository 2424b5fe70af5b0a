import { expect, test } from '@jest/globals';
import { itemAt } from '../../../src/platform/core/present.ts';
import { createSlots } from '../../../src/platform/sandbox/slots.ts';

const never = new AbortController().signal;

/** Work that is under way until it is told to end. */
const job = () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let hasBegun = false;
  return {
    work: () => {
      hasBegun = true;
      return promise;
    },
    end: resolve,
    hasBegun: () => hasBegun,
  };
};
const turn = () => new Promise((resolve) => setImmediate(resolve));

// Guards: at most so many programs run at once, in order, and a slot is passed on however the work before it ended.
test('waits for a place', async () => {
  const slots = createSlots(2);
  const jobs = ['a', 'b', 'c', 'd'].map((owner) => ({ owner, ...job() }));
  const running = jobs.map(({ owner, work }) => slots.run(owner, never, work));
  await turn();
  expect(jobs.map(({ hasBegun }) => hasBegun())).toEqual([true, true, false, false]);
  itemAt(jobs, 1).end();
  await turn();
  expect(jobs.map(({ hasBegun }) => hasBegun())).toEqual([true, true, true, false]);
  await expect(slots.run('e', AbortSignal.abort(), job().work)).rejects.toMatchObject({ name: 'AbortError' });
  for (const { end } of jobs) end();
  await Promise.all(running);
  await expect(slots.run('f', never, () => Promise.reject(new Error('it broke')))).rejects.toThrow('it broke');
  expect(await slots.run('f', never, async () => 'done')).toBe('done');
});

// Guards: the endless programs of one workspace leave slots for the others.
test('one owner gets half the places', async () => {
  const slots = createSlots(4);
  const greedy = [job(), job(), job()];
  const running = greedy.map(({ work }) => slots.run('greedy', never, work));
  expect(await slots.run('modest', never, async () => 'done')).toBe('done');
  expect(greedy.map(({ hasBegun }) => hasBegun())).toEqual([true, true, false]);
  itemAt(greedy, 0).end();
  await turn();
  expect(itemAt(greedy, 2).hasBegun()).toBe(true);
  for (const { end } of greedy) end();
  await Promise.all(running);
});

// Guards: waiting can be cancelled and ends with a message after a while; a slot that becomes free goes to somebody
// else.
test('does not wait for ever', async () => {
  const slots = createSlots(1, 50);
  const first = job();
  const running = slots.run('a', never, first.work);
  const controller = new AbortController();
  const cancelled = slots.run('b', controller.signal, async () => 'never');
  controller.abort();
  await expect(cancelled).rejects.toMatchObject({ name: 'AbortError' });
  await expect(slots.run('c', never, async () => 'never')).rejects.toThrow('try again later');
  first.end();
  await running;
  expect(await slots.run('d', never, async () => 'done')).toBe('done');
});
