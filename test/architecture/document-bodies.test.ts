/**
 * What the OpenAPI documents allow in a body, held against what the service takes. A refinement is in no document, so that
 * generated clients send what is refused: such a rule has to be told by the schema as well.
 */
import { expect, test } from '@jest/globals';
import { documents } from '../../src/openapi.ts';
import { first, present } from '../../src/platform/core/present.ts';
import { fieldsOf } from '../../src/platform/core/record.ts';
import { handle } from '../../src/platform/http/endpoint.ts';
import { endpoints } from '../support/http/endpoints.ts';

const made = documents(
  endpoints.map((endpoint) => handle(endpoint, async () => {})),
  { BASE_URL: undefined, PORT: 8080, EXTENSIONS: new Set() },
);
const DOCUMENTS = { public: made.public(), 'control-plane': made.controlPlane() };

type Schema = Readonly<Record<string, unknown>>;
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Of formats and patterns: the first that a schema allows. */
const TEXTS = [
  ...['', 'a', 'aa', '1', '0.5', 'A', 'a@example.com', 'https://example.com', '2026-01-01T00:00:00Z', 'acc_a'],
  ...['01890a5d-ac96-774b-bcce-b302099a8057', '* * * * *', 'https://example.com/a', 'aaa', 'AAA', 'A1', 'a.b'],
];
const FORMATS: Readonly<Record<string, RegExp>> = {
  uuid: /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/,
  email: /@/,
  uri: /^https:/,
  'date-time': /T.*Z$/,
};

function createSampler(document: object) {
  const resolved = (schema: unknown): Schema => {
    const { $ref, ...own } = fieldsOf(schema);
    if (typeof $ref !== 'string') return own;
    return $ref
      .slice(2)
      .split('/')
      .reduce<Schema>((at, name) => fieldsOf(at[name]), fieldsOf(document));
  };

  /** The smallest values that a schema allows: one of each of its forms; of an object with each optional field alone. */
  function smallest(given: unknown, depth = 0): unknown[] {
    const schema = resolved(given);
    const forms = [...listOf(schema.oneOf), ...listOf(schema.anyOf)];
    if (forms.length > 0) return forms.flatMap((form) => smallest(form, depth));
    if ('const' in schema) return [schema.const];
    if (schema.enum) return [listOf(schema.enum)[0]];
    if (Array.isArray(schema.type)) return schema.type.flatMap((type) => smallest({ ...schema, type }, depth));
    switch (schema.type) {
      case 'object':
        return ofObject(schema, depth);
      case 'array':
        return itemsOf(schema, depth);
      case 'string':
        return [textOf(schema)];
      case 'integer':
      case 'number':
        return [
          Number(schema.minimum ?? (schema.exclusiveMinimum === undefined ? 0 : Number(schema.exclusiveMinimum) + 1)),
        ];
      case 'boolean':
        return [false];
      case 'null':
        return [null];
      default:
        return [{}];
    }
  }

  function ofObject(schema: Schema, depth: number): unknown[] {
    const properties = fieldsOf(schema.properties);
    const required = listOf(schema.required).map(String);
    const base = Object.fromEntries(required.map((name) => [name, first(smallest(properties[name], depth + 1))]));
    const optional = depth > 4 ? [] : Object.entries(properties);
    const named = schema.minProperties && schema.additionalProperties ? { a: schema.additionalProperties } : {};
    return [
      base,
      ...[...optional, ...Object.entries(named)].flatMap(([name, property]) =>
        smallest(property, depth + 1).map((value) => ({ ...base, [name]: value })),
      ),
    ].filter((value) => Object.keys(value).length >= Number(schema.minProperties ?? 0));
  }

  function itemsOf({ items, minItems = 0 }: Schema, depth: number): unknown[] {
    const each = smallest(items, depth + 1);
    return minItems === 0
      ? [[], ...each.map((item) => [item])]
      : each.map((item) => Array(Number(minItems)).fill(item));
  }

  function textOf({ minLength = 0, pattern, format }: Schema): string {
    const isAllowed = (text: string) =>
      text.length >= Number(minLength) &&
      (typeof pattern !== 'string' || new RegExp(pattern).test(text)) &&
      (FORMATS[String(format)]?.test(text) ?? true);
    return TEXTS.find(isAllowed) ?? 'a'.repeat(Number(minLength));
  }
  return smallest;
}

const BODIES = endpoints.flatMap((endpoint) => {
  const { body, surface, path, method, id, rawBody } = endpoint;
  if (!body || rawBody) return [];
  const operation = fieldsOf(fieldsOf(DOCUMENTS[surface].paths?.[path])[method]);
  const { 'application/json': json } = fieldsOf(fieldsOf(operation.requestBody).content);
  return json ? [{ id, body, surface, schema: fieldsOf(json).schema }] : [];
});

test('bodies are found', () => expect(BODIES.length).toBeGreaterThan(50));

// Guards: the least that a document allows is taken, so that it tells of blank texts and of fields that exclude each other.
test.each(BODIES)('$id', ({ body, surface, schema }) => {
  const samples = createSampler(DOCUMENTS[surface])(present(schema));
  const refused = samples.flatMap((sample) => {
    const { error } = body.safeParse(sample);
    return error
      ? [
          `${JSON.stringify(sample)}: ${error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; ')}`,
        ]
      : [];
  });
  expect(refused).toEqual([]);
});
