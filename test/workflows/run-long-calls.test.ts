/** Calls that outlast a heartbeat timeout (20 s), side by side because each has to wait for it. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { heartbeating } from '../../activities/failures.ts';
import { newRunId, newUuid } from '../../src/platform/core/ids.ts';
import { INTEGRATION_HEALTH } from '../../workflows/integration-health/messages.ts';
import type { integrationHealth } from '../../workflows/integration-health/workflow.ts';
import { connectTestTemporal, type TestTemporal } from '../support/temporal/temporal.ts';
import { asksFor, endOf, firstTurn, SUCCEEDED, withRuns } from './run-worker.ts';

const LONGER_THAN_A_TIMEOUT_MS = 22_000;

let temporal: TestTemporal;
beforeAll(async () => {
  temporal = await connectTestTemporal();
});
afterAll(() => temporal?.close());

/** A model that is slow and says that it is there. */
async function slowModel() {
  let attempts = 0;
  const takeTurn = async () => {
    attempts++;
    await heartbeating(() => new Promise((resolve) => setTimeout(resolve, LONGER_THAN_A_TIMEOUT_MS)));
    return SUCCEEDED;
  };
  return withRuns(temporal, { takeTurn }, async ({ start }) => ({ end: await endOf(await start()), attempts }));
}

/** A model call whose worker is gone: nothing is heard of it. */
async function lostModel() {
  let attempts = 0;
  const over = Promise.withResolvers<void>();
  const takeTurn = async () => {
    if (++attempts === 1) await over.promise;
    return SUCCEEDED;
  };
  return withRuns(temporal, { takeTurn }, async ({ start }) => {
    const end = await endOf(await start()).finally(over.resolve);
    return { end, attempts };
  });
}

/** The same for a tool with an effect that must not happen twice. */
async function lostTool() {
  let attempts = 0;
  const over = Promise.withResolvers<void>();
  const callTool = async () => {
    attempts++;
    await over.promise;
  };
  const activities = { takeTurn: firstTurn(asksFor('irreversible')), callTool };
  return withRuns(temporal, activities, async ({ start, toolFailures }) => {
    const end = await endOf(await start()).finally(over.resolve);
    return { end, attempts, isOutcomeUnknown: toolFailures.map((failure) => failure.isOutcomeUnknown) };
  });
}

/** A check of a credential whose worker is gone. */
async function lostChore() {
  const over = Promise.withResolvers<void>();
  return withRuns(temporal, { checkCredentials: () => over.promise }, async ({ taskQueue }) => {
    const args: [{ tokenId: string }] = [{ tokenId: newUuid() }];
    const options = { taskQueue, workflowId: newRunId(), args };
    const chore = temporal.client.workflow.execute<typeof integrationHealth>(INTEGRATION_HEALTH, options);
    return chore
      .then(() => 'done')
      .catch(() => 'given up')
      .finally(over.resolve);
  });
}

// Guards: heartbeats keep a slow call alive, which is billed once. A silent call is repeated, unless that may do harm;
// then it is left to the next round of housekeeping.
test('slow calls go on, lost ones are repeated, lost irreversible ones are not', async () => {
  const [slow, lost, tool, chore] = await Promise.all([slowModel(), lostModel(), lostTool(), lostChore()]);
  expect(slow).toEqual({ end: 'COMPLETED', attempts: 1 });
  expect(lost).toEqual({ end: 'COMPLETED', attempts: 2 });
  expect(chore).toBe('given up');
  expect(tool).toEqual({ end: 'COMPLETED', attempts: 1, isOutcomeUnknown: [true] });
});
