/** Keeps a loop that asks again from turning without progress: each turn in a row waits longer than the one before. */
import { condition } from '@temporalio/workflow';

const FIRST_MS = 1_000;
const LONGEST_MS = 300_000;

export interface Brake {
  /** Returns at once the first time in a row, then after 1 s, 2 s, 4 s, and at most 5 minutes, or when there is news. */
  hold(hasNews: () => boolean): Promise<void>;
  /** There was progress. */
  release(): void;
}

export function createBrake(): Brake {
  let turns = 0;
  return {
    async hold(hasNews) {
      if (turns++ > 0)
        await condition(hasNews, Math.min(FIRST_MS * 2 ** (turns - 2), LONGEST_MS), {
          summary: 'asks the record again',
        });
    },
    release: () => void (turns = 0),
  };
}
