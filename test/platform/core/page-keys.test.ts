import { describe, expect, test } from '@jest/globals';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  createPageKeys,
  partsOfToken,
  withoutPageKeys,
  withPageKeysMasked,
} from '../../../src/platform/core/page-keys.ts';
import { maskPageKeys } from '../../../src/platform/files/mask-page-keys.ts';
import { present } from '../../../src/platform/core/present.ts';

const PAGE = { customerId: 'acme', pageId: '01a1ffa3-6d04-75db-8a4a-0123456789ab' };
const keys = createPageKeys('new-secret, old-secret');
const token = keys.tokenOf(PAGE);
const URL = 'https://aos.example/miniapps/';

/** One address as it is written where slashes are escaped. */
const SPELLINGS: [string, (address: string) => string][] = [
  ['as it is', (address) => address],
  ['in a query', encodeURIComponent],
  ['in a query of a query', (address) => encodeURIComponent(encodeURIComponent(address))],
  ['in JSON with escaped slashes', (address) => address.replaceAll('/', '\\/')],
  ['in HTML', (address) => address.replaceAll('/', '&#x2F;')],
];

describe.each(SPELLINGS)('an address %s', (_, spell) => {
  // Guards: a key is taken out of a text and added again, in each spelling, and the rest of the text stays.
  test('loses its key and gets it back', () => {
    const text = `Please (${spell(URL + token)}) now, "${spell(`${URL}${token}#a`)}".`;
    const stored = withoutPageKeys(text);
    expect(stored).toBe(`Please (${spell(URL + PAGE.pageId)}) now, "${spell(`${URL}${PAGE.pageId}#a`)}".`);
    expect(keys.addTo('acme', stored)).toBe(text);
    expect(keys.addTo('acme', text)).toBe(text);
  });

  // Guards: a text that was cut within a key keeps nothing of it.
  test('keeps no beginning of its key', () => {
    const whole = spell(URL + token);
    for (let end = whole.length - 42; end <= whole.length; end++)
      expect(withoutPageKeys(whole.slice(0, end))).toBe(spell(URL + PAGE.pageId));
  });
});

// Guards: the key of a page of another workspace is never added, and a key counts while its secret is among the settings.
test('a key is of one workspace', () => {
  const foreign = keys.addTo('other', URL + PAGE.pageId);
  const { pageId, key } = present(partsOfToken(foreign.slice(URL.length)));
  expect(keys.isKeyOf({ customerId: 'acme', pageId }, key)).toBe(false);
  const old = createPageKeys('old-secret').tokenOf(PAGE);
  expect(keys.isKeyOf(PAGE, present(partsOfToken(old)).key)).toBe(true);
  expect(createPageKeys('other-secret').isKeyOf(PAGE, present(partsOfToken(old)).key)).toBe(false);
});

// Guards: addresses that only look alike stay as they are.
test.each([
  `https://laws.example/act/some-law-of-2019-with-a-long-name.html`,
  `https://files.example/${PAGE.pageId}_report-of-a-long-name.pdf`,
  `https://aos.example/console/inbox/${PAGE.pageId}`,
  `fact/or/fiction, act/two.`,
])('%s is no address of a page', (text) => {
  expect(withoutPageKeys(text)).toBe(text);
  expect(withPageKeysMasked(text)).toBe(text);
  expect(keys.addTo('acme', text)).toBe(text);
});

// Guards: a file has no key in it however its bytes come, has as many bytes as before, and is otherwise the same.
test('a file loses its keys wherever it is cut', async () => {
  const [before, after] = ['a'.repeat(700), 'é\u0000b'.repeat(300)];
  const bytes = Buffer.from(`${before} ${URL}${token} ${after}`);
  const expected = Buffer.from(`${before} ${URL}${PAGE.pageId}${'*'.repeat(44)} ${after}`);
  const start = bytes.indexOf(URL);
  for (let cut = start; cut < start + URL.length + token.length + 2; cut++) {
    const parts = Readable.from([bytes.subarray(0, cut), bytes.subarray(cut)]);
    expect(await buffer(parts.pipe(maskPageKeys()))).toEqual(expected);
  }
  const bytewise = Readable.from(Array.from(bytes, (byte) => Buffer.of(byte)));
  expect(await buffer(bytewise.pipe(maskPageKeys()))).toEqual(expected);
});
