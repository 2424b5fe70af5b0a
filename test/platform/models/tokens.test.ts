import { expect, test } from '@jest/globals';
import { countTokens } from '../../../src/platform/models/tokens.ts';

// Guards: counts are those of a tokenizer, not of characters.
test('counts tokens', () => {
  expect(countTokens('')).toBe(0);
  expect(countTokens('hello world')).toBe(2);
  const english = 'The quick brown fox jumps over the lazy dog. '.repeat(200);
  expect(countTokens(english) / english.length).toBeGreaterThan(0.15);
  expect(countTokens(english) / english.length).toBeLessThan(0.3);
});

// Guards: a text with a tokenizer's control words or half a character is counted and not refused.
test('takes any text', () => {
  expect(countTokens('<|endoftext|> and <|im_start|>')).toBeGreaterThan(5);
  expect(countTokens('\ud800 \0 \u{1f642}'.repeat(500))).toBeGreaterThan(500);
});

// Guards: a text without spaces, for which tokenizers take quadratic time, does not block the process.
test('counts a long run in linear time', () => {
  // In quadratic time this is a matter of hours: the time limit of the test tells.
  expect(countTokens('x'.repeat(2_000_000))).toBeGreaterThan(100_000);
});

// Guards: an endless reply of a server that reports no usage is counted for as long as it lasts.
test('counts no more of a text than tells how it goes on', () => {
  const begin = 'a b c d e '.repeat(20_000);
  expect(countTokens(begin + begin + begin)).toBe(3 * countTokens(begin));
  // What is beyond is not looked at.
  expect(countTokens(begin + '\u{1f642}'.repeat(100_000))).toBe(2 * countTokens(begin));
});
