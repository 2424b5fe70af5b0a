import { expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import type { Material } from '../../../src/platform/models/offline/material.ts';
import { PLACEHOLDER_MARK, PLACEHOLDER_NOTE } from '../../../src/platform/models/offline/notice.ts';
import { composeJson } from '../../../src/platform/models/offline/reply.ts';
import { describeSubject } from '../../../src/platform/models/offline/subject.ts';

const brief = 'Plan the launch of the new tea shop. It opens in May! Who speaks?';
const material: Material = {
  subject: describeSubject({ title: 'Launch of the new tea shop', brief }),
  role: 'writer',
  request: brief,
  step: undefined,
  rejection: undefined,
  toolAnswers: [],
  remembered: [],
  earlier: [],
  notes: [],
};
const fill = (schema: unknown): unknown => JSON.parse(composeJson(material, schema));

const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- what a test expects of it is what its assertions say
function expectValid(schema: object): any {
  const value = fill(schema);
  const isValid = ajv.validate(schema, value);
  expect({ isValid, schema, value, errors: ajv.errors }).toMatchObject({ isValid: true });
  return value;
}

const range = (max: number) =>
  fc.tuple(fc.nat(max), fc.nat(max)).map(([a, b]) => ({ min: Math.min(a, b), max: Math.max(a, b) }));
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const defined = (node: object) => Object.fromEntries(Object.entries(node).filter(([, value]) => value !== undefined));
const scalar = fc.oneof(fc.string({ maxLength: 6 }), fc.integer(), fc.boolean(), fc.constant(null));

const leaf = fc.oneof(
  fc.record({ length: range(60), has: fc.constantFrom('min', 'max', 'both', 'none') }).map(({ length, has }) =>
    defined({
      type: 'string',
      minLength: has === 'min' || has === 'both' ? length.min : undefined,
      maxLength: has === 'max' || has === 'both' ? length.max : undefined,
    }),
  ),
  fc
    .record({
      type: fc.constantFrom('integer', 'number'),
      low: optional(fc.integer({ min: -50, max: 50 })),
      span: optional(fc.nat(50)),
    })
    .map(({ type, low, span }) =>
      defined({ type, minimum: low, maximum: span === undefined ? undefined : (low ?? -10) + span }),
    ),
  fc.record({ low: fc.integer({ min: -50, max: 50 }), span: fc.integer({ min: 2, max: 50 }) }).map(({ low, span }) => ({
    type: 'number',
    exclusiveMinimum: low,
    exclusiveMaximum: low + span,
  })),
  fc.constantFrom<object>(
    { type: 'boolean' },
    { type: 'null' },
    { type: ['null', 'string'] },
    {},
    { type: 'string', pattern: '^[a-z][a-z0-9-]*$' },
  ),
  fc.uniqueArray(scalar, { minLength: 1, maxLength: 4 }).map((values) => ({ enum: values })),
  scalar.map((value) => ({ const: value })),
  fc.constant({ $ref: '#/$defs/shared~1part' }),
);

const node: fc.Arbitrary<object> = fc.letrec<{ node: object }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    leaf,
    fc
      .record({ items: tie('node'), count: optional(range(4)) })
      .map(({ items, count }) => defined({ type: 'array', items, minItems: count?.min, maxItems: count?.max })),
    fc
      .record({
        properties: fc.dictionary(fc.stringMatching(/^[a-z_]{1,8}$/), tie('node'), { maxKeys: 4 }),
        required: fc.boolean(),
        closed: fc.boolean(),
      })
      .map(({ properties, required, closed }) => ({
        type: 'object',
        properties,
        required: required ? Object.keys(properties) : Object.keys(properties).slice(0, 1),
        additionalProperties: !closed,
      })),
    tie('node').map((first) => ({ anyOf: [first, { type: 'string' }] })),
    // Alternatives that exclude each other: a value that two of a oneOf accept is not valid.
    tie('node').map((first) => ({ oneOf: [{ type: 'array', items: first, minItems: 1 }, { type: 'null' }] })),
  ),
})).node;

// Guards: the offline model's answer fits any small schema that a step may have.
test('fills any small schema', () => {
  const withShared = node.map((schema) => ({ ...schema, $defs: { 'shared/part': { type: 'integer', minimum: 3 } } }));
  fc.assert(
    fc.property(withShared, (schema) => {
      expectValid(schema);
    }),
    { numRuns: 500, seed: 20_260_101 },
  );
});

// Guards: the answer fits schemas of the kind that real steps have, with features that the generator above does not
// make.
test.each<[string, object]>([
  ['unique items', { type: 'array', items: { type: 'string' }, uniqueItems: true, minItems: 5 }],
  ['unique enum items', { type: 'array', items: { enum: ['a', 'b', 'c'] }, uniqueItems: true, minItems: 3 }],
  [
    'unique integers',
    { type: 'array', items: { type: 'integer', minimum: 1, maximum: 5 }, uniqueItems: true, minItems: 5 },
  ],
  ['a tuple', { type: 'array', items: [{ type: 'integer' }, { type: 'string' }], minItems: 2 }],
  [
    'allOf',
    {
      allOf: [
        { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
        { properties: { b: { type: 'integer' } }, required: ['b'] },
      ],
    },
  ],
  [
    'a tree',
    {
      $ref: '#/$defs/node',
      $defs: {
        node: {
          type: 'object',
          properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/node' } } },
          required: ['name', 'children'],
        },
      },
    },
  ],
  [
    'multiples',
    {
      type: 'object',
      properties: {
        n: { type: 'integer', multipleOf: 7, minimum: 10 },
        m: { type: 'number', multipleOf: 0.5, maximum: -3 },
      },
      required: ['n', 'm'],
    },
  ],
  ['minProperties', { type: 'object', minProperties: 3 }],
  ['required without a property', { type: 'object', required: ['x', '__proto__'] }],
  ['maxProperties', { type: 'object', properties: { a: {}, b: {}, c: {} }, required: ['c'], maxProperties: 1 }],
  ['characters beyond 16 bits', { type: 'string', minLength: 3, maxLength: 3 }],
  ['a date by pattern', { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}$' }],
  ['a colour by pattern', { type: 'string', pattern: '^#[0-9a-f]{6}$' }],
])('fills %s', (_, schema) => {
  expectValid(schema);
});

const text = { type: 'string' };
const texts = { type: 'array', items: text };
const objectWith = (properties: object) => ({ type: 'object', properties, required: Object.keys(properties) });

// Guards: fields get what their name asks for, never what their description says.
test('fills fields by their name', () => {
  const description = 'Write in the style of the house and end with a question';
  const named = (names: string) =>
    objectWith(Object.fromEntries(names.split(' ').map((name) => [name, { ...text, description }])));
  const value = expectValid(named('title body slug email price launch_date website accentColor svg tagline path'));
  expect(value).toMatchObject({
    title: 'Launch of the new tea shop',
    body: expect.stringContaining(PLACEHOLDER_NOTE),
    slug: 'launch-of-the-new-tea-shop',
    email: expect.stringMatching(/^[\w-]+@example\.com$/),
    price: expect.stringMatching(/\d+ US dollars/),
    launch_date: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/),
    website: 'https://example.com',
    accentColor: expect.stringMatching(/^#[0-9a-f]{6}$/),
    svg: expect.stringMatching(/^<svg xmlns=.* viewBox=.*<\/svg>$/),
    tagline: expect.stringMatching(/^.{5,60}$/),
    path: expect.stringMatching(/^[\w./-]+\.\w+$/),
  });
  expect(JSON.stringify(value)).not.toContain('style of the house');
});

// Guards: a field whose name says nothing is filled by the kind that its description begins with.
test('fills fields by their description', () => {
  const described = (description: string) => ({ ...text, description });
  const value = expectValid(
    objectWith({
      a: described('URL of the page'),
      b: described('Hex colour of the ground'),
      c: described('The text in Markdown'),
      d: described('A drawing of the shop'),
    }),
  );
  expect(value).toEqual({
    a: expect.stringMatching(/^https:/),
    b: expect.stringMatching(/^#/),
    c: expect.stringContaining('# Launch of the new tea shop'),
    d: expect.stringMatching(/^<svg /),
  });
});

// Guards: whoever opens a result without a document sees in its first sentence that no model wrote it, and only there.
test('marks the first sentence', () => {
  const value = expectValid(
    objectWith({ title: text, tagline: { ...text, maxLength: 60 }, summary: text, points: texts }),
  );
  expect(value.summary).toMatch(new RegExp(`^${PLACEHOLDER_MARK} `));
  expect(JSON.stringify(value).split(PLACEHOLDER_MARK)).toHaveLength(2);
});

// Guards: the items of a list differ, however many are asked for.
test.each([3, 12, 60, 150])('writes %i different items', (minItems) => {
  const items = expectValid({ type: 'array', items: text, minItems });
  expect(new Set(items).size).toBe(minItems);
});

// Guards: a text that is too long is cut between two words.
test.each([12, 25, 47, 90])('shortens to %i characters', (maxLength) => {
  const value = expectValid(objectWith({ title: { ...text, maxLength }, comment: { ...text, maxLength } }));
  const { title } = value;
  expect('Launch of the new tea shop '.startsWith(`${title.replace(/…$/, '')} `)).toBe(true);
});

// Guards: an endless or senseless schema of a tenant costs no memory and throws nothing.
test.each<[string, unknown]>([
  ['a reference to itself', { $ref: '#' }],
  ['a reference to nothing', { $ref: '#/nowhere/%E0%A4%A' }],
  ['an endless object', { type: 'object', properties: { next: { $ref: '#' } }, required: ['next'] }],
  ['an endless wide array', { type: 'array', items: { $ref: '#' }, minItems: 50 }],
  ['a huge array', { type: 'array', items: { type: 'integer' }, minItems: 1e9 }],
  ['a huge string', { type: 'string', minLength: 1e9 }],
  ['a huge object', { type: 'object', minProperties: 1e9 }],
  ['a pattern of exponential time', { type: 'string', pattern: '^((.+)+)+\\n$', minLength: 200 }],
  ['a broken pattern', { type: 'string', pattern: '(' }],
  ['nonsense', { type: 7, enum: 'x', required: 'y', properties: [], allOf: {}, anyOf: [], minLength: 'z' }],
  ['no schema', undefined],
  ['false', false],
])('survives %s', (_, schema) => {
  expect(composeJson(material, schema).length).toBeLessThan(1_000_000);
});
