import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { asyncLocalStorage } from '@temporalio/activity';
import { heartbeating } from '../../activities/failures.ts';

// What watches the event loop goes on with the real one.
beforeAll(() => void jest.useFakeTimers({ doNotFake: ['performance'] }));
afterAll(() => void jest.useRealTimers());

/** @returns how often each of so many calls beats in a minute */
async function beatsOf(calls: number): Promise<number[]> {
  const beats = Array.from({ length: calls }, () => 0);
  const done = Promise.withResolvers<void>();
  const work = beats.map((_, n): Promise<void> => {
    const context = { heartbeat: () => void (beats[n] = (beats[n] ?? 0) + 1) };
    return Reflect.apply(asyncLocalStorage.run, asyncLocalStorage, [context, () => heartbeating(() => done.promise)]);
  });
  await jest.advanceTimersByTimeAsync(60_000);
  done.resolve();
  await Promise.all(work);
  return beats;
}

// Guards: a call that is cancelled hears of it within a second while there are no more than a hundred beside it; more of
// them do not write to Temporal more often, until each of them has to beat to be known as alive (10 s for chores).
test.each([
  [1, 60],
  [100, 60],
  [300, 20],
  [2_000, 12],
])('each of %i calls beats %i times a minute', async (calls, most) => {
  const beats = await beatsOf(calls);
  expect(Math.max(...beats)).toBeLessThanOrEqual(most + 1);
  expect(Math.min(...beats)).toBeGreaterThanOrEqual(most - 1);
});
