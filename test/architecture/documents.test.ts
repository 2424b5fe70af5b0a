/** The OpenAPI documents that callers have, with all that the contracts of this product put into them. */
import { expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { documents } from '../../src/openapi.ts';
import { fieldsOf, isRecord } from '../../src/platform/core/record.ts';
import { allRoutes } from '../../src/resources/index.ts';
import { SPENDING_EVENTS } from '../../src/resources/cost/notices/model.ts';
import { ARTIFACT_FINISHED, WAIT_EVENTS } from '../../src/resources/output-destinations/model.ts';
import { WEBHOOK_EVENTS } from '../../src/resources/webhook-subscriptions/model.ts';
import type { Services } from '../../src/compose/services.ts';

// A route only closes over the services that it is bound to.
const routes = allRoutes({} as Services);
const made = documents(routes, { BASE_URL: undefined, PORT: 8080, EXTENSIONS: new Set() });

// Guards: both documents are OpenAPI 3.1, and whatever they refer to is in them.
test.each(['public', 'controlPlane'] as const)('%s is valid', async (surface) => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate({ ...structuredClone(made[surface]()) });
  expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
  expect(() => validator.resolveRefs()).not.toThrow();
  expect(JSON.stringify(made[surface]()).match(/"\$ref":"(?!#\/components\/)[^"]*"/g)).toBeNull();
});

// Guards: a pattern that only JavaScript knows made validators of other languages refuse the whole document.
test.each(['public', 'controlPlane'] as const)('patterns of %s are those that other languages take', (surface) => {
  const patterns = [...JSON.stringify(made[surface]()).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(
    ([, text]) => JSON.parse(text!) as string,
  );
  expect(patterns.length).toBeGreaterThan(0);
  // Classes of Unicode need the flag u; groups with names and looking behind are spelled or bounded differently.
  expect(patterns.filter((pattern) => /\\p\{|\(\?<|\\u\{/i.test(pattern))).toEqual([]);
});

// Guards: whoever writes a receiver finds in the documents what it is sent.
test('each event that is posted is told of', () => {
  const told = (document: { webhooks?: object }) => Object.keys(document.webhooks ?? {});
  expect(told(made.public())).toEqual([...WEBHOOK_EVENTS]);
  const ofWaits = Object.values(WAIT_EVENTS);
  expect(told(made.controlPlane())).toEqual([ARTIFACT_FINISHED, ...ofWaits, ...Object.values(SPENDING_EVENTS)]);
});

const SURFACES = ['public', 'controlPlane'] as const;

/** Every value within a document, with the way to it. */
function* within(
  value: unknown,
  path = '',
): Generator<readonly [path: string, value: Readonly<Record<string, unknown>>]> {
  if (isRecord(value)) yield [path, value];
  if (typeof value !== 'object' || value === null) return;
  for (const [name, each] of Object.entries(value)) yield* within(each, `${path}/${name}`);
}
const isOpenObject = (schema: unknown): boolean => {
  const { type, properties, $ref, title } = fieldsOf(schema);
  return $ref === undefined && title === undefined && (type === 'object' || properties !== undefined);
};
const isNull = (schema: unknown): boolean => fieldsOf(schema).type === 'null';

// Guards: generators make a type of each form that a value has, and name it after its schema or its title.
test.each(SURFACES)('%s names the members of unions', (surface) => {
  const unnamed = [...within(made[surface]())].flatMap(([path, { oneOf, anyOf }]) =>
    [oneOf, anyOf]
      .filter(Array.isArray)
      .map((forms) => forms.filter((form) => !isNull(form)))
      .filter((forms) => forms.length > 1 && forms.some(isOpenObject))
      .map(() => path),
  );
  expect(unnamed).toEqual([]);
  expect(Object.keys(fieldsOf(made[surface]().components?.schemas)).filter((name) => /^_/.test(name))).toEqual([]);
});

// Guards: each group of endpoints says what it is about.
test.each(SURFACES)('%s describes its tags', (surface) => {
  expect(made[surface]().tags?.filter(({ description }) => !description)).toEqual([]);
});

// Guards: a document of a service without the extension offers no header that has no effect, nor its refusals.
test.each(SURFACES)('%s has `Idempotency-Key` while the extension is on', (surface) => {
  const told = (extensions: ('idempotency' | 'sse')[]) => {
    const config = { BASE_URL: undefined, PORT: 8080, EXTENSIONS: new Set(extensions) };
    return /idempotency.key/i.test(JSON.stringify(documents(routes, config)[surface]()));
  };
  expect([told([]), told(['sse']), told(['idempotency'])]).toEqual([false, false, true]);
});
