/** Chores of housekeeping: what is due of all workspaces, for as long as there is time. */
import { expect, test } from '@jest/globals';
import { createRounds } from '../../../src/platform/temporal/rounds.ts';

/** A chore over rows without end. */
const endless = (handle: (id: string) => Promise<void>, failed: string[] = []) => {
  let next = 0;
  return createRounds<string>({
    take: async ({ each }) => ({ ids: Array.from({ length: each }, () => String(next++)), last: 'a workspace' }),
    load: async (ids) => [...ids],
    handle,
    failed: (_, id) => failed.push(id),
    budgetMs: 60_000,
  });
};

// Guards against: an activity that was cancelled, or whose time was over, and went on beside its successor.
test('ends when it is told to', async () => {
  const told = new AbortController();
  const handled: string[] = [];
  const chore = endless(async (id) => {
    handled.push(id);
    if (id === '12') told.abort();
  });
  // Of those that were begun side by side, each is brought to its end.
  expect(await chore(told.signal)).toBeLessThan(50);
  expect(handled.length).toBeLessThan(50);
  expect(handled).toContain('12');
});

// Guards against: one chore that fails each time and keeps all after it waiting.
test('goes on after a failure', async () => {
  const told = new AbortController();
  const failed: string[] = [];
  const chore = endless(async (id) => {
    if (Number(id) > 100) return told.abort();
    throw new Error('cannot be handled');
  }, failed);
  await chore(told.signal);
  expect(failed.slice(0, 100)).toEqual(Array.from({ length: 100 }, (_, id) => String(id)));
});
