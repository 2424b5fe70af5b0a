/** How the pieces of a page become lines. */
import { expect, test } from '@jest/globals';
import { linesOf } from '../../../src/platform/documents/pdf-lines.ts';

const piece = (str: string, x: number, { dir = 'ltr', width = 10, hasEOL = false } = {}) => ({
  str,
  dir,
  width,
  hasEOL,
  transform: [12, 0, 0, 12, x, 700],
});
const rtl = (str: string, x: number, hasEOL = false) => piece(str, x, { dir: 'rtl', hasEOL });

// Guards: words stay words, and cells are apart.
test('a wide gap parts cells', () => {
  const line = [piece('Sum', 0), piece(' ', 30, { width: 4 }), piece('of', 34), piece(' ', 50, { width: 12 })];
  expect(linesOf([...line, piece('90.00', 62, { hasEOL: true }), piece('Next', 0)])).toBe('Sum of\t90.00\nNext');
});

// Guards: text from right to left is read in its own order, whichever way a program wrote it, in its usual letters.
test('text from right to left is in its order', () => {
  const word = ['\ufee2', '\ufefc', '\ufeb3'];
  const fromTheLeft = word.map((letter, at) => rtl(letter, at * 10));
  const fromTheRight = word.toReversed().map((letter, at) => rtl(letter, 20 - at * 10, at === 2));
  expect(
    linesOf([
      piece('a', 0),
      piece(' ', 1, { width: 4 }),
      ...fromTheLeft,
      piece(' ', 30, { width: 4 }),
      piece('b', 40, { hasEOL: true }),
    ]),
  ).toBe('a سلام b');
  expect(linesOf(fromTheRight)).toBe('سلام');
});
