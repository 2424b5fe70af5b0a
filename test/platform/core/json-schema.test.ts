/** Schemas of strangers: what they may say, and what a check of theirs may cost. Tools add their own in their tests. */
import { expect, test } from '@jest/globals';
import { checkValue, schemaProblem } from '../../../src/platform/core/json-schema.ts';
import { present } from '../../../src/platform/core/present.ts';
import { cpuMsOf } from '../../support/observability/effort.ts';

// Guards: outputs may be of any type; only what takes arguments or params must be an object.
test('a schema need not be of an object', () => {
  expect(schemaProblem({ type: 'string' })).toBeUndefined();
  expect(schemaProblem({})).toBeUndefined();
  expect(schemaProblem({ type: 'string' }, { objectOnly: true })).toBe('the schema is not of type object');
  expect(schemaProblem({}, { objectOnly: true })).toBe('the schema is not of type object');
  expect(schemaProblem({ type: 'object' }, { objectOnly: true })).toBeUndefined();
});

// Guards: the sender of a value learns where it is wrong and why, under the name that the sender knows it by.
test('says what is wrong with a value', () => {
  const schema = { type: 'object', properties: { age: { type: 'integer' } }, required: ['age'] };
  expect(checkValue(schema, { age: 7 }, 'params')).toBeUndefined();
  expect(checkValue(schema, {}, 'params')).toBe("params must have required property 'age'");
  expect(checkValue(schema, { age: 'x' }, 'params')).toBe('age must be integer');
  expect(checkValue({ type: 'string' }, 7, 'output')).toBe('output must be string');
});

// Guards: a schema that cannot be used fails the check and never lets a value pass.
test.each<[string, Record<string, unknown>, string]>([
  ['is none', { type: 'strnig' }, 'is not valid'],
  ['refers to a stranger', { $ref: 'https://example.com/s.json' }, 'outside of itself'],
  ['refers to nothing', { $ref: '#/$defs/none' }, "can't resolve"],
  ['would answer later', { $async: true, type: 'string' }, 'uses $async'],
])('a schema that %s', (_, schema, reason) => {
  expect(schemaProblem(schema)).toContain(reason);
  expect(checkValue(schema, 7, 'output')).toMatch(/^output cannot be checked: the schema /);
});

// Guards: the list of faults is bounded, whatever the value is.
test('messages are bounded', () => {
  const named = { [`${'x'.repeat(5_000)}`]: 1 };
  const said = present(checkValue({ type: 'object', additionalProperties: false }, named, 'output'));
  expect(said.length).toBeLessThanOrEqual(1_000);
  const many = checkValue({ type: 'array', items: { type: 'string' } }, [1, 2, 3, 4, 5, 6, 7, 8], 'output');
  expect(many).toBe([0, 1, 2, 3, 4].map((at) => `${at} must be string`).join('; '));
});

// Guards: equal items are found whatever the order of their keys, and different items are never taken for equal.
test.each<[string, unknown[], boolean]>([
  ['numbers', [1, 2, 1], false],
  ['a number and its text', [1, '1'], true],
  [
    'objects',
    [
      { a: 1, b: { c: 2, d: 3 } },
      { b: { d: 3, c: 2 }, a: 1 },
    ],
    false,
  ],
  ['an object and its entries', [{ a: 1 }, [['a', 1]]], true],
  [
    'lists in another order',
    [
      [1, 2],
      [2, 1],
    ],
    true,
  ],
])('unique items: %s', (_, items, isUnique) => {
  const said = checkValue({ type: 'array', uniqueItems: true }, items, 'output');
  expect(said).toBe(isUnique ? undefined : 'output must NOT have duplicate items');
  expect(checkValue({ type: 'array', uniqueItems: false }, items, 'output')).toBeUndefined();
});

// Guards: a megabyte that a stranger checks against his own schema delays nobody else, and does not fill the memory.
test('checks large values in bounded time', async () => {
  const took = await cpuMsOf(() => {
    const objects = Array.from({ length: 80_000 }, (_, id) => ({ id }));
    expect(checkValue({ type: 'array', uniqueItems: true }, objects, 'output')).toBeUndefined();

    const strict = { type: 'array', items: { allOf: Array.from({ length: 90 }, () => ({ type: 'string' })) } };
    const numbers = Array.from({ length: 100_000 }, (_, at) => at);
    expect(checkValue(strict, numbers, 'output')).toBe('0 must be string');

    const demanding = { type: 'array', items: { anyOf: Array.from({ length: 2_000 }, (_, at) => ({ const: at })) } };
    expect(checkValue(demanding, numbers, 'output')).toBe('output is too large to be checked against its schema');
  });
  expect(took).toBeLessThan(5_000);
});
