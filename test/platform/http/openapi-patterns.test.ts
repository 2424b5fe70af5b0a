/** Patterns of the OpenAPI documents, as validators and generators outside of JavaScript read them. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { fieldsOf } from '../../../src/platform/core/record.ts';
import { MANIFEST_KINDS } from '../../../src/resources/manifests/model.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ worker: false });
});
afterAll(() => service?.close());

/** What ECMAScript takes and Python's `re` refuses; one refused pattern costs its reader the whole document. */
const REFUSED_BY_PYTHON: Record<string, RegExp> = {
  'an escaped letter that means nothing there, as of a class of Unicode': /(?<!\\)(?:\\\\)*\\[CE-MO-RTVXYceg-mo-qyz]/,
  'a code point in braces': /\\u\{/,
  'a group named in another way': /\(\?<[^=!]/,
  'a class that is empty, or of everything': /\[\^?\]/,
};
const refusalOf = (pattern: string): string | undefined =>
  Object.entries(REFUSED_BY_PYTHON).find(([, refused]) => refused.test(pattern))?.[0];

/** Also those that are names of properties. */
const patternsIn = (value: unknown): string[] => {
  if (Array.isArray(value)) return value.flatMap(patternsIn);
  if (typeof value !== 'object' || value === null) return [];
  const { pattern, patternProperties } = fieldsOf(value);
  return [
    ...(typeof pattern === 'string' ? [pattern] : []),
    ...Object.keys(fieldsOf(patternProperties)),
    ...Object.values(value).flatMap(patternsIn),
  ];
};

// Guards: the documents can be read in Python too: `\p{L}` in one pattern made validators refuse all of it.
test.each(['public', 'control-plane'])('of the %s document are ones that Python takes', async (surface) => {
  const document: unknown = await (await fetch(`${service.baseUrl}/openapi/${surface}.json`)).json();
  const patterns = patternsIn(document);
  expect(patterns.length).toBeGreaterThan(5);
  expect(patterns.filter((pattern) => refusalOf(pattern) !== undefined)).toEqual([]);
});

// Guards: the check above can fail, and takes what is the same in both.
test('that Python refuses are known', () => {
  const refused = [
    String.raw`^[\p{L}]$`,
    String.raw`\P{Lu}`,
    String.raw`\u{1F600}`,
    '(?<year>a)',
    '[^]',
    String.raw`\cA`,
  ];
  expect(refused.filter((pattern) => refusalOf(pattern) === undefined)).toEqual([]);
  const taken = [
    String.raw`^\d{2}\S\w-\/\\p$`,
    '(?<!a)(?<=b)(?!c)(?:d)',
    String.raw`[^\u0000-\u001f]\x7f\t`,
    '[\\w.-]',
  ];
  expect(taken.map(refusalOf)).toEqual(taken.map(() => undefined));
});

/** @returns the places of texts that may not be blank and do not say so by their length, there or around an `allOf` */
const blankIn = (value: unknown, place = '', around?: unknown): string[] => {
  if (typeof value !== 'object' || value === null) return [];
  const { pattern, minLength: own } = fieldsOf(value);
  const minLength = own ?? around;
  const isAll = Array.isArray(value) || 'allOf' in value;
  const inside = Object.entries(value).flatMap(([name, one]) =>
    blankIn(one, `${place}/${name}`, isAll ? minLength : undefined),
  );
  return pattern === String.raw`\S` && !(Number(minLength) > 0) ? [place, ...inside] : inside;
};

// Guards: a text that may not be blank says so by its length too, which more readers know than the pattern.
test.each(['openapi/public', 'openapi/control-plane', ...MANIFEST_KINDS.map((kind) => `schemas/${kind}`)])(
  'of %s: no text is told to be blank by its pattern alone',
  async (name) => {
    expect(blankIn(await (await fetch(`${service.baseUrl}/${name}.json`)).json())).toEqual([]);
  },
);
