/**
 * Schemas that providers refused, each with a report, and what each provider documents that it takes: what goes out is taken
 * by all of them.
 */
import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { isRecord } from '../../../src/platform/core/record.ts';
import { toolSchema, untoldParts } from '../../../src/platform/models/tool-schemas.ts';

type Schema = Record<string, unknown>;

/** Of Twilio: names of arguments that are longer than 64 characters. */
const LONG = `Parameter${'X'.repeat(60)}`;

const SCHEMAS: Record<string, Schema> = {
  // https://github.com/langchain-ai/langchain-mcp-adapters/issues/137
  'an object without properties': { type: 'object' },
  'without properties, closed': { type: 'object', additionalProperties: false },
  // https://github.com/anthropics/claude-code/issues/3940, https://github.com/openai/openai-python/issues/2411
  'a choice at the root': {
    type: 'object',
    anyOf: [
      { properties: { id: { type: 'string' }, deep: { type: 'boolean' } }, required: ['id', 'deep'] },
      { properties: { id: { type: 'number' }, name: { type: 'string' } }, required: ['id'] },
    ],
  },
  'one of, at the root': {
    oneOf: [
      { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
      { type: 'object', properties: { b: { type: 'string' } }, required: ['b'] },
    ],
  },
  'all of, at the root': {
    type: 'object',
    properties: { c: { type: 'string' } },
    required: ['c'],
    allOf: [{ properties: { a: { type: 'string' } }, required: ['a'] }, { $ref: '#/$defs/more' }],
    $defs: { more: { properties: { b: { type: 'string' } } } },
  },
  // https://github.com/openai/openai-agents-python/issues/1174
  'a reference at the root': {
    $ref: '#/definitions/Query',
    definitions: { Query: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] } },
    $schema: 'http://json-schema.org/draft-07/schema#',
  },
  // https://github.com/google-gemini/gemini-cli/issues/13326
  'a schema within itself': {
    type: 'object',
    properties: { tree: { $ref: '#/$defs/node' } },
    $defs: {
      node: {
        type: 'object',
        properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/node' } } },
      },
    },
  },
  // https://github.com/microsoft/vscode/issues/248810
  'a tuple of draft 7': {
    type: 'object',
    properties: { pair: { type: 'array', items: [{ type: 'string' }, { type: 'number' }], additionalItems: false } },
  },
  'a tuple of draft 2020-12': {
    type: 'object',
    properties: { pair: { type: 'array', prefixItems: [{ type: 'number' }, { type: 'number' }] } },
  },
  'limits of draft 4': {
    type: 'object',
    properties: {
      n: { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
    },
  },
  'nullable of OpenAPI': {
    type: 'object',
    properties: { name: { type: 'string', nullable: true }, kind: { type: 'string', nullable: true, enum: ['a'] } },
  },
  // https://github.com/IBM-Cloud/ibm-cloud-cli-release/issues/226, https://github.com/twilio-labs/mcp/issues/49,
  // https://github.com/anthropics/claude-code/issues/92648
  'arguments with other characters': {
    type: 'object',
    properties: {
      $filter: { type: 'string' },
      'uids[]': { type: 'array', items: { type: 'string' } },
      [LONG]: { type: 'string' },
      page: {
        type: 'object',
        properties: { 'start<': { type: 'number', title: 'From' }, end: { type: 'number' } },
        required: ['start<'],
        dependentRequired: { end: ['start<'] },
      },
      rows: { type: 'array', items: { anyOf: [{ $ref: '#/$defs/row' }, { type: 'null' }] } },
    },
    required: ['$filter', 'page'],
    $defs: { row: { type: 'object', properties: { '@id': { type: 'string' } }, required: ['@id'] } },
  },
  'properties with the names of keywords': {
    type: 'object',
    properties: {
      definitions: { type: 'string' },
      items: { type: 'array', items: { type: 'string' } },
      type: { type: 'string', enum: ['object'] },
      nullable: { type: 'boolean' },
      properties: { type: 'object', properties: { required: { type: 'boolean' } } },
    },
    required: ['items'],
  },
};

const ajv = new Ajv2020({ strict: false });
const fieldsIn = (value: unknown): [string, unknown][] =>
  Array.isArray(value)
    ? value.flatMap(fieldsIn)
    : isRecord(value)
      ? Object.entries(value).flatMap(([name, field]): [string, unknown][] => [[name, field], ...fieldsIn(field)])
      : [];
const objectsIn = (value: unknown): Schema[] => [value, ...fieldsIn(value).map(([, field]) => field)].filter(isRecord);

/** The names of arguments, also of those within arguments. */
const namesIn = (schema: Schema): string[] =>
  objectsIn(schema).flatMap(({ properties }) =>
    isRecord(properties) && Object.values(properties).every(isRecord) ? Object.keys(properties) : [],
  );

/** What each documents, as the fault that it finds. */
const PROVIDERS: Record<string, (schema: Schema) => string[]> = {
  // https://platform.openai.com/docs/guides/function-calling: "schema must have type 'object' and not have ... at the top level"
  OpenAI: (schema) => [
    ...(schema.type === 'object' ? [] : ['the root is no object']),
    ...['anyOf', 'oneOf', 'allOf', 'enum', 'not', '$ref'].filter((name) => name in schema),
    ...(isRecord(schema.properties) ? [] : ['object schema missing properties']),
  ],
  // https://docs.anthropic.com/en/docs/agents-and-tools/tool-use: input_schema is JSON Schema draft 2020-12
  Anthropic: (schema) => [
    ...['anyOf', 'oneOf', 'allOf'].filter((name) => name in schema),
    ...('$schema' in schema ? ['another draft'] : []),
    // "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'"
    ...namesIn(schema).filter((name) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name)),
    ...(!('$schema' in schema) && ajv.validateSchema(schema) ? [] : [ajv.errorsText()]),
  ],
  // https://ai.google.dev/api/caching#Schema: no references, no tuples
  Gemini: (schema) =>
    fieldsIn(schema)
      .filter(([name, field]) => name === '$defs' || name === 'prefixItems' || (name === '$ref' && !isRecord(field)))
      .map(([name]) => name),
};

describe.each(Object.entries(SCHEMAS))('%s', (_, schema) => {
  // Guards against: a request that is refused whole for one tool, whatever the run is asked.
  test.each(Object.entries(PROVIDERS))('is taken by %s', (__, faultsIn) => {
    const before = JSON.stringify(schema);
    expect(faultsIn(toolSchema(schema))).toEqual([]);
    expect(JSON.stringify(schema)).toBe(before);
  });
});

// Guards: what every provider refused is among what is tried, so that the rules above find something.
test.each(Object.entries(PROVIDERS))('%s refuses some as they are', (_, faultsIn) => {
  expect(Object.values(SCHEMAS).filter((schema) => faultsIn(schema).length > 0).length).toBeGreaterThan(1);
});

// Guards: a model is told of every argument, and of what has to be there.
test('says the same', () => {
  const of = (name: string) => toolSchema(SCHEMAS[name] ?? {});
  expect(of('a choice at the root')).toEqual({
    type: 'object',
    properties: {
      id: { anyOf: [{ type: 'string' }, { type: 'number' }] },
      deep: { type: 'boolean' },
      name: { type: 'string' },
    },
    required: ['id'],
  });
  expect(of('one of, at the root')).toMatchObject({ properties: { a: {}, b: {} }, required: [] });
  expect(of('all of, at the root')).toMatchObject({ properties: { a: {}, b: {}, c: {} }, required: ['c', 'a'] });
  expect(of('a reference at the root')).toEqual({
    type: 'object',
    properties: { q: { type: 'string' } },
    required: ['q'],
  });
  expect(of('a tuple of draft 7')).toMatchObject({
    properties: { pair: { items: { anyOf: [{ type: 'string' }, { type: 'number' }] } } },
  });
  expect(of('a tuple of draft 2020-12')).toMatchObject({ properties: { pair: { items: { type: 'number' } } } });
  expect(of('limits of draft 4').properties).toEqual({ n: { type: 'number', exclusiveMinimum: 0, maximum: 9 } });
  expect(of('nullable of OpenAPI').properties).toEqual({
    name: { type: ['string', 'null'] },
    kind: { type: ['string', 'null'], enum: ['a', null] },
  });
  const named = 'properties with the names of keywords';
  expect(of(named)).toEqual(SCHEMAS[named]);
  const nested = objectsIn(of('a schema within itself')).filter(({ type }) => type === 'array');
  expect(nested.length).toBe(2);
});

const field = (schema: Schema): Schema => ({
  type: 'object',
  properties: { a: schema },
  $defs: { one: { type: 'string' } },
});

// Guards: who writes a tool is told what of its arguments the model does not hear, which it then gets wrong.
test.each<[string | undefined, Schema]>([
  ['"oneOf" at the root', { type: 'object', oneOf: [{ required: ['a'] }, { required: ['b'] }] }],
  ['"not" at the root', { type: 'object', allOf: [{ not: { required: ['a'] } }] }],
  ['"if" at the root, "then" at the root', { type: 'object', if: { required: ['a'] }, then: { required: ['b'] } }],
  ['"minLength" beside a reference', field({ $ref: '#/$defs/one', minLength: 3 })],
  ['what "#/$defs/two" refers to', field({ $ref: '#/$defs/two' })],
  ['the order in "items"', field({ type: 'array', items: [{ type: 'string' }, { type: 'number' }] })],
  ['the order in "prefixItems"', field({ type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] })],
  [
    'what is beyond the size of a schema',
    { type: 'object', properties: Object.fromEntries(Array.from({ length: 20_001 }, (_, i) => [`p${i}`, {}])) },
  ],
  [undefined, field({ $ref: '#/$defs/one', description: 'One.', title: 'One' })],
  [undefined, field({ oneOf: [{ type: 'string' }, { type: 'number' }], not: { const: 1 } })],
  [undefined, { type: 'object', allOf: [{ properties: { a: {} }, required: ['a'] }] }],
  [undefined, field({ type: 'array', prefixItems: [{ type: 'string' }] })],
])('says what is not told: %s', (lost, schema) => {
  expect(untoldParts(schema)).toBe(lost && `models are not told of ${lost}`);
});
