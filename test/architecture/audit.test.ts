/** Whether a change is recorded is decided for each endpoint, and seen here. */
import { expect, test } from '@jest/globals';
import { isAudited } from '../../src/platform/http/audit.ts';
import { endpoints } from '../support/http/endpoints.ts';

/** They use the service and change nothing about its configuration: runs, projects, messages, sending again. */
const NO_CONFIGURATION: readonly RegExp[] = [
  /^runs\.(dispatch|create|cancel|retry)$/,
  /^projects\.\w+$/,
  /^attachments\.(upload|prepare)$/,
  /^chat\.\w+$/,
  /^(webhook-deliveries|output-destinations)\.redeliver$/,
  // A question: nothing is changed.
  /^manifests\.plan$/,
  // Their signature is the provider's, and their record the ledger.
  /^billing\.webhook$/,
];

// Guards: every change leaves a row in the audit log. An endpoint is recorded unless it says otherwise, and those that
// may are listed here.
test('every endpoint that changes configuration is in the audit log', () => {
  const silent = endpoints.filter((endpoint) => endpoint.method !== 'get' && !isAudited(endpoint));
  expect(silent.length).toBeGreaterThan(10);
  const unexpected = silent.filter(({ id }) => !NO_CONFIGURATION.some((known) => known.test(id)));
  expect(unexpected.map(({ id }) => id)).toEqual([]);
});

// Guards against: audit rows for every run and message, on the paths that have to be fast.
test('and no other is', () => {
  const recorded = endpoints.filter(isAudited).filter(({ id }) => NO_CONFIGURATION.some((known) => known.test(id)));
  expect(recorded.map(({ id }) => id)).toEqual([]);
  expect(endpoints.filter(({ method, audited }) => method === 'get' && audited === false).map(({ id }) => id)).toEqual(
    [],
  );
});
