/** The workflow of housekeeping: rounds without end, each chore for itself. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHousekeepingActivities } from '../../../activities/housekeeping.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { present } from '../../../src/platform/core/present.ts';
import { createMeters, type Meters } from '../../../src/platform/observability/meters.ts';
import { HOUSEKEEPER, rhythmSignal, type HousekeeperInput } from '../../../workflows/housekeeper/messages.ts';
import { CHORES, type Chore } from '../../../workflows/housekeeper/chores.ts';
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
/** The executions that were taken out of the list, and what was measured. */
type Seen = { tidied: string[]; meters: Meters };
const RHYTHM = { choresMs: 200, credentialsMs: 3_600_000, isMetered: false };

/** What an activity of several chores has for each, in these tests. */
const TOGETHER = { stopMs: 200, giveUpMs: 500 };

/**
 * Keeps house with these chores while `during` looks; the others end well.
 * @param knowsTogether the worker has the activity that does several chores
 */
async function keeping(
  name: string,
  own: Partial<Record<Chore, Work>>,
  input: Partial<HousekeeperInput>,
  during: (handle: WorkflowHandle, times: Times, seen: Seen) => Promise<void>,
  knowsTogether = true,
): Promise<void> {
  const times: Times = {};
  const tidied: string[] = [];
  const meters = createMeters();
  const counted = (what: string) => async () => void (times[what] = (times[what] ?? 0) + 1);
  const taskQueue = temporal.queuePrefix + name;
  const { doTogether, ...alone } = createHousekeepingActivities({
    chores: allChores(own, counted),
    meters,
    log: createLog({ level: 'silent', pretty: false }),
    tidy: async (runId) => void tidied.push(runId),
    together: TOGETHER,
  });
  const worker = await Worker.create({
    connection: temporal.connection,
    namespace: temporal.namespace,
    taskQueue,
    workflowBundle: await bundleWorkflows(),
    activities: {
      ...alone,
      ...(knowsTogether && { doTogether }),
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
      await during(temporal.client.workflow.getHandle(taskQueue), times, { tidied, meters });
    } finally {
      await temporal.client.workflow.getHandle(handle.workflowId).terminate();
    }
  });
}
const atLeast = (times: Times, what: string, least: number) =>
  eventually(() => expect(times[what] ?? 0).toBeGreaterThanOrEqual(least));

/** @returns the activities that were asked for so far, of this execution */
async function askedFor(handle: WorkflowHandle): Promise<string[]> {
  const events = present((await handle.fetchHistory()).events);
  return events.flatMap(({ activityTaskScheduledEventAttributes: asked }) => asked?.activityType?.name ?? []);
}

// Guards: a round that finds nothing to do is one activity, whatever the number of chores.
test('chores that have little to do are done together', async () => {
  await keeping('together', {}, {}, async (handle, times) => {
    for (const chore of CHORES) await atLeast(times, chore, 5);
    const asked = new Set(await askedFor(handle));
    expect([...asked].sort()).toEqual(['checkCredentials', 'doTogether', 'enforceRetention']);
  });
});

// Guards: a chore with much to do is not cut short for being one of several.
test('a chore that takes longer goes on by itself', async () => {
  const stopped: boolean[] = [];
  const foldTallies = async (signal: AbortSignal) => {
    for (let worked = 0; worked < 1_000 && !signal.aborted; worked += 20) await sleep(20);
    stopped.push(signal.aborted);
  };
  await keeping('longer', { foldTallies }, {}, async (handle, times) => {
    await eventually(() => expect(stopped).toContain(false));
    expect(stopped[0]).toBe(true);
    await atLeast(times, 'sweepTexts', 2);
    expect((await askedFor(handle)).filter((type) => CHORES.some((chore) => chore === type))).toContain('foldTallies');
    expect(await askedFor(handle)).not.toContain('sweepTexts');
  });
});

// Guards: each chore is done although the activity that does several of them fails.
test('where chores cannot be done together, each is done by itself', async () => {
  const during = async (_: WorkflowHandle, times: Times) => {
    for (const chore of CHORES) await atLeast(times, chore, 2);
  };
  await keeping('apart', {}, {}, during, false);
});

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
  await keeping('hangs', own, {}, async (handle, times, { meters }) => {
    try {
      for (const chore of CHORES) if (!(chore in own)) await atLeast(times, chore, 4);
      // Once among the others, once by itself.
      expect(hung).toBe(2);
      const details = () => handle.query<{ currentDetails: string }, []>('__temporal_workflow_metadata');
      // It is tried a second time after a second.
      await eventually(async () => expect((await details()).currentDetails).toMatch(/\| startRuns \| \d+ \|/));
      expect((await details()).currentDetails).not.toMatch(/settleProjects|startProjects/);
      const metrics = await meters.registry.metrics();
      const failures = /aos_chore_duration_seconds_count\{chore="startRuns",outcome="failed"\} [1-9]/;
      expect(metrics).toMatch(failures);
      expect(metrics).toMatch(/aos_chore_duration_seconds_count\{chore="startProjects",outcome="done"\} [1-9]/);
    } finally {
      end();
    }
    await eventually(() => expect(hung).toBeGreaterThan(2));
  });
});

// Guards: a history is bounded; an execution hands on what is due when, and names to the one after it what can go.
test('it continues as new, and goes on in the same rhythm', async () => {
  await keeping('continues', {}, { continueAfterRounds: 2 }, async (handle, times, { tidied }) => {
    await eventually(() => expect(tidied.length).toBeGreaterThanOrEqual(2));
    expect(new Set(tidied).size).toBe(tidied.length);
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
