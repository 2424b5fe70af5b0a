/** The OpenAPI documents that callers have, with all that the contracts of this product put into them. */
import { expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { documents } from '../../src/openapi.ts';
import { allRoutes } from '../../src/resources/index.ts';
import { SPENDING_EVENTS } from '../../src/resources/cost/notices/model.ts';
import { ARTIFACT_FINISHED, WAIT_EVENTS } from '../../src/resources/output-destinations/model.ts';
import { WEBHOOK_EVENTS } from '../../src/resources/webhook-subscriptions/model.ts';
import type { Services } from '../../src/compose/services.ts';

// A route only closes over the services that it is bound to.
const made = documents(allRoutes({} as Services), { BASE_URL: undefined, PORT: 8080 });

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
