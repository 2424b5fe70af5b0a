/** A text that is longer than a model reads at once is embedded as a whole, up to its limit. */
import { expect, test } from '@jest/globals';
import { embedInPieces, MAX_CHARACTERS } from '../../../src/platform/models/long-texts.ts';

/** How often a piece says yes, and how often no. */
const votesOf = (pieces: readonly string[]): Promise<number[][]> =>
  Promise.resolve(pieces.map((piece) => [piece.split('yes').length - 1, piece.split('no').length - 1]));

// Guards: every part counts for as much as it is long, also the last, and what is beyond the limit neither counts nor is embedded.
test('counts all of a text up to its limit, and nothing beyond', async () => {
  let embedded: string[] = [];
  const votes = (pieces: readonly string[]) => {
    embedded = [...pieces];
    return votesOf(pieces);
  };
  const [half = []] = await embedInPieces(['yes '.repeat(1_000) + 'no. '.repeat(1_000)], 400, votes);
  expect(half[0]).toBeCloseTo(half[1] ?? 0, 1);
  expect(embedded.length).toBeGreaterThan(15);
  expect(Math.max(...embedded.map(({ length }) => length))).toBeLessThanOrEqual(400);

  const longest = 'yes '.repeat(MAX_CHARACTERS / 4);
  const [whole = [], cut = []] = await embedInPieces([longest, longest + 'no. '.repeat(10_000)], 400, votes);
  expect(cut).toEqual(whole);
  expect(embedded.join('').length).toBeLessThanOrEqual(2 * MAX_CHARACTERS);
});
