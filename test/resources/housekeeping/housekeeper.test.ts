/** The workflow of housekeeping: rounds without end, each chore for itself. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { createHousekeepingActivities } from '../../../activities/housekeeping.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { present } from '../../../src/platform/core/present.ts';
import { createMeters } from '../../../src/platform/observability/meters.ts';
import { HOUSEKEEPER, rhythmSignal, type HousekeeperInput } from '../../../workflows/housekeeper/messages.ts';
import { CHORES, type Chore } from '../../../workflows/housekeeping/messages.ts';
import { eventually } from '../../support/service/service.ts';
import { connectTestTemporal, type TestTemporal } from '../../support/temporal/temporal.ts';
import { bundleWorkflows } from '../../support/temporal/workflow-bundle.ts';
import { allChores, type Work } from './all-chores.ts';

let temporal: TestTemporal;
beforeAll(async () => {
  temporal = await connectTestTemporal();
});
afterAll(() => temporal?.close());

type Times = Partial<Record<string, number>>;
const RHYTHM = { choresMs: 200, credentialsMs: 3_600_000, isMetered: false };

/** Keeps house with these chores while `during` looks; the others end well. */
async function keeping(
  name: string,
  own: Partial<Record<Chore, Work>>,
  input: Partial<HousekeeperInput>,
  during: (handle: WorkflowHandle, times: Times, tidied: (string | undefined)[]) => Promise<void>,
): Promise<void> {
  const times: Times = {};
  const tidied: (string | undefined)[] = [];
  const counted = (what: string) => async () => void (times[what] = (times[what] ?? 0) + 1);
  const taskQueue = temporal.queuePrefix + name;
  const worker = await Worker.create({
    connection: temporal.connection,
    namespace: temporal.namespace,
    taskQueue,
    workflowBundle: await bundleWorkflows(),
    activities: {
      ...createHousekeepingActivities({
        chores: allChores(own, counted),
        meters: createMeters(),
        log: createLog({ level: 'silent', pretty: false }),
        tidy: async (runId) => void tidied.push(runId),
      }),
      ...Object.fromEntries(
        ['checkCredentials', 'enforceRetention', 'chargeInfrastructure'].map((each) => [each, counted(each)]),
      ),
    },
    shutdownGraceTime: '100ms',
    shutdownForceTime: '1s',
  });
  await worker.runUntil(async () => {
    const args: [HousekeeperInput] = [{ rhythm: RHYTHM, ...input }];
    const handle = await temporal.client.workflow.start(HOUSEKEEPER, { taskQueue, workflowId: taskQueue, args });
    try {
      await during(temporal.client.workflow.getHandle(taskQueue), times, tidied);
    } finally {
      await temporal.client.workflow.getHandle(handle.workflowId).terminate();
    }
  });
}
const atLeast = (times: Times, what: string, least: number) =>
  eventually(() => expect(times[what] ?? 0).toBeGreaterThanOrEqual(least));

// Guards: round after round every chore is done, although one hangs over all of them and another fails in each.
test('a chore that hangs or fails keeps none of the others from its rounds', async () => {
  const { promise: hangs, resolve: end } = Promise.withResolvers<void>();
  let hung = 0;
  const own = {
    startRuns: () => Promise.reject(new Error('broken')),
    settleProjects: () => {
      hung++;
      return hangs;
    },
  };
  await keeping('hangs', own, {}, async (handle, times) => {
    try {
      for (const chore of CHORES) if (!(chore in own)) await atLeast(times, chore, 4);
      expect(hung).toBe(1);
      const details = () => handle.query<{ currentDetails: string }, []>('__temporal_workflow_metadata');
      // It is tried a second time after a second.
      await eventually(async () => expect((await details()).currentDetails).toMatch(/\| startRuns \| \d+ \|/));
      expect((await details()).currentDetails).not.toMatch(/settleProjects|startProjects/);
    } finally {
      end();
    }
    await eventually(() => expect(hung).toBeGreaterThan(1));
  });
});

// Guards: a history is bounded; an execution hands on what is due when, and names to the one after it what can go.
test('it continues as new, and goes on in the same rhythm', async () => {
  await keeping('continues', {}, { continueAfterRounds: 2 }, async (handle, times, tidied) => {
    await eventually(() => expect(tidied.length).toBeGreaterThanOrEqual(4));
    expect(tidied.slice(0, 2)).toEqual([undefined, undefined]);
    expect(new Set(tidied.slice(2)).size).toBe(tidied.length - 2);
    await atLeast(times, 'foldTallies', 6);
    // These are not due again for minutes, however many executions there were.
    expect(times).toMatchObject({ checkCredentials: 1, enforceRetention: 1 });
    expect(times).not.toHaveProperty('chargeInfrastructure');
    expect(present((await handle.fetchHistory()).events).length).toBeLessThan(400);
  });
});

// Guards: a process that starts with another interval is heeded at once, not when the old one is over.
test('a new rhythm is taken up in the middle of a wait', async () => {
  const rhythm = { ...RHYTHM, choresMs: 3_600_000 };
  await keeping('rhythm', {}, { rhythm }, async (handle, times) => {
    await atLeast(times, 'foldTallies', 1);
    await handle.signal(rhythmSignal, { choresMs: 200, credentialsMs: 200, isMetered: true });
    for (const what of ['foldTallies', 'checkCredentials']) await atLeast(times, what, 3);
    await atLeast(times, 'chargeInfrastructure', 1);
  });
});
