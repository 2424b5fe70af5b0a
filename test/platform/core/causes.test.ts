import { expect, test } from '@jest/globals';
import { causesOf, rootInWords, rootOf } from '../../../src/platform/core/causes.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const wrapped = new Error('outside', { cause: new TypeError('fetch failed', { cause: refused }) });

// Guards: an error that an SDK wrapped twice is found, and a value that is no error ends the search.
test('leads from the outermost error to what it began with', () => {
  expect([...causesOf(wrapped)].map(({ message }) => message)).toEqual([
    'outside',
    'fetch failed',
    'connect ECONNREFUSED',
  ]);
  expect(rootOf(wrapped)).toBe(refused);
  expect(rootInWords(wrapped)).toBe('ECONNREFUSED: connect ECONNREFUSED');
  expect([...causesOf(new Error('alone', { cause: 'a text' }))]).toHaveLength(1);
  for (const none of [undefined, null, 'text', 7, {}]) {
    expect([...causesOf(none)]).toEqual([]);
    expect(rootInWords(none)).toBe('');
  }
});

// Guards against: a library whose error is its own cause, which would keep a process busy for ever.
test('ends where errors go round in a circle', () => {
  const first = new Error('first');
  first.cause = new Error('second', { cause: first });
  expect([...causesOf(first)].length).toBeLessThan(100);
});
