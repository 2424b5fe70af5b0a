/** Counts of long texts, which are made in a thread, and of texts that grow. */
import { expect, test } from '@jest/globals';
import { countTokensOf } from '../../../src/platform/models/token-counts.ts';
import { countTokens } from '../../../src/platform/models/tokens.ts';

const words = (from: number, count: number): string =>
  Array.from({ length: count }, (_, at) => `word${from + at} `).join('');

/** Counted piece by piece, of which none is kept. */
const countOf = (text: string): number =>
  (text.match(/[^]{1,1000}/g) ?? []).reduce((total, piece) => total + countTokens(piece), 0);

/** Whether it is there without a wait, as what a thread answers is not. */
async function isAtOnce(work: Promise<unknown>): Promise<boolean> {
  let isDone = false;
  void work.then(() => (isDone = true));
  for (let task = 0; task < 10; task++) await Promise.resolve();
  return isDone;
}

// Guards: each request of a run begins with the one before, and of a long one only its end is counted, where a thread would
// be a wait in each turn. All is counted as if it were new.
test('a text that has grown', async () => {
  const begin = words(0, 3_000);
  const grown = begin + words(3_000, 300);
  expect(await countTokensOf(begin)).toBe(countOf(begin));
  const counting = countTokensOf(grown);
  expect(await isAtOnce(counting)).toBe(true);
  expect(await counting).toBe(countOf(grown));
});

// Guards: a long text that is new holds up nobody.
test('a text that is new, also where it is longer than is counted', async () => {
  const counting = countTokensOf(words(10_000, 2_000));
  expect(await isAtOnce(counting)).toBe(false);
  expect(await counting).toBe(countOf(words(10_000, 2_000)));
  const endless = 'a b c d e '.repeat(40_000);
  expect(await countTokensOf(endless)).toBe(2 * countOf(endless.slice(0, 200_000)));
});
