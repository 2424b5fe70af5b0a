/** What is asked for in words, without a service. */
import { expect, test } from '@jest/globals';
import { BEGINNING, cursorOf, placeOf } from '../../../src/resources/search/model.ts';
import { markHits, markQuery, parseWords } from '../../../src/resources/search/words.ts';

const asked = (q: string) => parseWords(q).tsquery;

// Guards: whatever is typed is a query that Postgres can read, with nothing of the caller's but letters and digits in it.
test.each([
  ['Lemon cake', `('lemon':*) & ('cake':*)`],
  ['of 7', `('of') & ('7')`],
  ['"lemon cake" -"too sweet" -pie', `('lemon' <-> 'cake') & !('too' <-> 'sweet') & !('pie':*)`],
  ['report-2026.md', `('report' <-> '2026' <-> 'md')`],
  ['019a2b3c-77aa-7', `('019a2b3c' <-> '77aa':*)`],
  ['01e5abc', `('01e5' <-> 'abc':*)`],
  [`o'clock ' \\ <b> | & ! :*`, `('o' <-> 'clock':*) & ('b')`],
  ['"open', `('open')`],
  ['ÜBER 東京', `('über':*) & ('東京')`],
  ['', null],
  ['- "" ... ()', null],
])('%s', (q, tsquery) => expect(asked(q)).toBe(tsquery));

// Guards: a query of a great many words stays one that the database answers.
test('takes no more than some words', () => {
  expect(asked(Array.from({ length: 500 }, (_, n) => `w${n}`).join(' '))?.split('&')).toHaveLength(24);
});

// Guards: the marks of a workspace are quoted, so that no id or agent is anything but itself.
test('quotes its marks', () => {
  expect(markQuery({ customerId: `a' | '@b\\`, kinds: ['run', 'file'], status: 'running', agent: 'me' })).toBe(
    `'@a'' | ''@b\\\\' & ('#run' | '#file') & '%open' & '~me'`,
  );
});

// Guards: what was asked for is marked where a word begins with it, and the text is whole.
test('marks what was found', () => {
  const text = 'A lemon, LEMONADE and melon-lemon. Lem';
  const parts = markHits(text, ['lem', 'lemon']);
  expect(parts.map((part) => part.text).join('')).toBe(text);
  expect(parts.filter((part) => part.hit).map((part) => part.text)).toEqual(['lemon', 'LEMON', 'lemon', 'Lem']);
  // A short word is asked for whole, and is nothing that others begin with.
  expect(markHits('of offline', ['of'])).toEqual([
    { text: 'of', hit: true },
    { text: ' offline', hit: false },
  ]);
  expect(markHits('Nothing', [])).toEqual([{ text: 'Nothing', hit: false }]);
});

// Guards: a page goes on exactly where the one before ended, and what is no place is none.
test('reads its cursors', () => {
  const newest = { at: '1795571150447123', id: 'log-7' };
  for (const place of [
    { newest, after: null },
    { newest, after: { at: '1', id: 'post-abc123', rank: 0.06079271 } },
  ]) {
    expect(placeOf(cursorOf(place))).toEqual(place);
  }
  for (const text of ['', 'x', cursorOf(BEGINNING), Buffer.from('1~a 0.1').toString('base64url')]) {
    expect(placeOf(text)).toBeUndefined();
  }
});
