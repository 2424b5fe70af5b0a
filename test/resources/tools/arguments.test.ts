import { expect, test } from '@jest/globals';
import { checkArguments, schemaProblem } from '../../../src/resources/tools/arguments.ts';

const check = (properties: object, args: unknown, more: object = {}) =>
  checkArguments({ slug: 'lookup', parameters: { type: 'object', properties, ...more } }, args);

// Guards: a model is told what is wrong in words that it can act on.
test('says what is wrong', async () => {
  const schema = {
    city: { type: 'string' },
    units: { enum: ['metric', 'imperial'] },
    days: { type: 'array', items: { type: 'integer' } },
  };
  const rules = { required: ['city'], additionalProperties: false };
  expect(await check(schema, { city: 'Oslo', units: 'metric', days: [1] }, rules)).toBeUndefined();
  expect(await check(schema, {}, rules)).toBe("bad arguments for lookup: arguments must have required property 'city'");
  const said = await check(schema, { city: 1, units: 'kelvin', days: [1, 'two'], wind: true }, rules);
  expect(said).toContain('city must be string');
  expect(said).toContain('["metric","imperial"]');
  expect(said).toContain('days/1 must be integer');
  expect(said).toContain('"wind"');
  for (const notAnObject of [undefined, null, 'text', 7])
    expect(await check(schema, notAnObject)).toContain('must be object');
});

// Guards: faults in foreign schemas and values are named within limits.
test.each<[string, Record<string, unknown>, string]>([
  ['not an object', { type: 'string' }, 'not of type object'],
  ['not a schema', { type: 'object', properties: { a: { type: 'strnig' } } }, 'is not valid'],
  ['remote', { type: 'object', properties: { a: { $ref: 'https://example.com/s.json' } } }, 'outside of itself'],
  ['file', { type: 'object', properties: { a: { $ref: 'file:///etc/passwd' } } }, 'outside of itself'],
  ['anchor', { type: 'object', properties: { a: { $ref: '#elsewhere' } } }, 'outside of itself'],
  ['dangling', { type: 'object', properties: { a: { $ref: '#/$defs/none' } } }, "can't resolve"],
  ['circular', { type: 'object', properties: { a: { $ref: '#' } } }, 'refers to itself'],
  ['dynamic', { type: 'object', properties: { a: { $dynamicRef: '#x' } } }, '$dynamicRef'],
  ['renamed inside', { type: 'object', properties: { a: { $id: 'other' } } }, '$id'],
  ['large', { type: 'object', description: 'x'.repeat(70_000) }, 'larger than'],
  ['look-ahead', { type: 'object', properties: { a: { type: 'string', pattern: '(?=a)b' } } }, 'regexp'],
])('refuses a schema that is %s', async (_, schema, reason) => {
  expect(await schemaProblem(schema)).toContain(reason);
  expect(await checkArguments({ slug: 'lookup', parameters: schema }, { a: 'x' })).toContain('cannot be called');
});

// Guards against: depth, and doubling by reference: 2^30 checks from a schema of 2 KB.
test('refuses a schema that would take for ever', async () => {
  const deep = Array.from({ length: 60 }).reduce<object>((inner) => ({ not: inner }), {});
  expect(await schemaProblem({ type: 'object', ...deep })).toContain('deeper');

  const $defs = Object.fromEntries(
    Array.from({ length: 30 }, (_, i) => [
      `d${i}`,
      { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] },
    ]),
  );
  expect(
    await schemaProblem({ type: 'object', allOf: [{ $ref: '#/$defs/d0' }], $defs: { ...$defs, d30: {} } }),
  ).toMatch(/too large|deeper/);
});

// Guards: a pattern that takes exponential time in other engines takes none here.
test('matches patterns in linear time', async () => {
  const start = performance.now();
  const properties = { a: { pattern: '^(a+)+$' }, b: { pattern: '^b$' } };
  expect(await check(properties, { a: `${'a'.repeat(50_000)}!` })).toContain('a must match pattern');
  expect(await check(properties, { a: 'aaa', b: 'aaa' })).toContain('b must match pattern');
  expect(await check(properties, { a: 'aaa', b: 'b' })).toBeUndefined();
  // With the start of a thread.
  expect(performance.now() - start).toBeLessThan(20_000);
});

// Guards: ordinary schemas of other authors work: shared definitions, a dialect, an own id, properties named like
// keywords.
test('accepts what is usual', async () => {
  const parameters = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: 'https://example.com/tool.json',
    type: 'object',
    properties: {
      from: { $ref: '#/$defs/place' },
      to: { $ref: '#/$defs/place' },
      $ref: { type: 'string' },
      $id: { type: 'string', format: 'uri' },
    },
    $defs: { place: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } },
  };
  expect(await schemaProblem(parameters)).toBeUndefined();
  expect(await checkArguments({ slug: 'route', parameters }, { from: { name: 'Oslo' }, $ref: 'x' })).toBeUndefined();
  expect(await checkArguments({ slug: 'route', parameters }, { to: {} })).toContain('to must have');
  // The same id in another tenant's schema.
  expect(await schemaProblem({ ...parameters, properties: {} })).toBeUndefined();
});
