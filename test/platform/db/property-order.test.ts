/** A schema comes back with its properties in their order, and whatever else is stored as JSON comes back as it is. */
import { expect, test } from '@jest/globals';
import { parseStored, withPropertyOrder } from '../../../src/platform/db/property-order.ts';

/** What `jsonb` makes of a value: short keys first. */
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const keys = Object.entries(value).sort(([one], [other]) => one.length - other.length || (one < other ? -1 : 1));
  return Object.fromEntries(keys.map(([key, each]) => [key, sorted(each)]));
};
const stored = (value: unknown): unknown => parseStored(JSON.stringify(sorted(value)), JSON.parse);

test('properties keep their order, at any depth and beside others', () => {
  const leaf = { properties: { zebra: {}, ab: {}, a: {} }, type: 'object' };
  const schema = { properties: { reasons: { items: leaf }, answer: leaf, a: { anyOf: [leaf, { type: 'null' }] } } };
  const order = (value: unknown): string => JSON.stringify(value).replace(/"type":"object",?|,"type":"object"/g, '');
  expect(order(stored(withPropertyOrder(schema)))).toBe(order(schema));
});

// Guards: a field that somebody else calls by this name is no order, and is not taken away.
test.each([
  { 'x-aos-property-order': ['a'] },
  { 'x-aos-property-order': ['a', 'b'], properties: { a: 1, c: 2 } },
  { 'x-aos-property-order': ['a', 'a'], properties: { a: 1, b: 2 } },
  { 'x-aos-property-order': 'a', properties: { a: 1, b: 2 } },
  { 'x-aos-property-order': ['a', 'b'], properties: ['a', 'b'] },
  { properties: { 'x-aos-property-order': { type: 'string' }, b: 1 } },
  ['x-aos-property-order'],
])('leaves %j', (value) => {
  expect(stored(value)).toEqual(value);
});
