/** A tick of housekeeping: each chore is an activity for itself. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { WorkflowFailedError } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { createHousekeepingActivities } from '../../../activities/housekeeping.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { createMeters } from '../../../src/platform/observability/meters.ts';
import { CHORES, type Chore } from '../../../workflows/housekeeping/messages.ts';
import { allChores, type Work } from './all-chores.ts';
import { eventually } from '../../support/service/service.ts';
import { connectTestTemporal, type TestTemporal } from '../../support/temporal/temporal.ts';
import { bundleWorkflows } from '../../support/temporal/workflow-bundle.ts';

let temporal: TestTemporal;
beforeAll(async () => {
  temporal = await connectTestTemporal();
});
afterAll(() => temporal?.close());

/** Runs `ticks` at once with these chores; the others end well. */
async function tick(own: Partial<Record<Chore, Work>>, { ticks = 1, giveUpMs = 25_000, during = async () => {} } = {}) {
  const done: Chore[] = [];
  const well =
    (chore: Chore): Work =>
    async () =>
      void done.push(chore);
  const chores = allChores(own, well);
  const meters = createMeters();
  const log = createLog({ level: 'silent', pretty: false });
  const alone = { stopMs: giveUpMs, giveUpMs };
  const taskQueue = `${temporal.queuePrefix}chores`;
  const worker = await Worker.create({
    connection: temporal.connection,
    namespace: temporal.namespace,
    taskQueue,
    workflowBundle: await bundleWorkflows(),
    activities: createHousekeepingActivities({ chores, meters, log, alone, tidy: async () => {} }),
  });
  const { workflow } = temporal.client;
  const execute = (n: number) =>
    workflow
      .execute('housekeeping', { taskQueue, workflowId: `${taskQueue}-${performance.now()}-${n}` })
      .then(() => undefined)
      .catch((error: unknown) => (error instanceof WorkflowFailedError ? error.cause?.message : String(error)));
  const outcomes = await worker.runUntil(async () => {
    const executions = Array.from({ length: ticks }, (_, n) => execute(n));
    await during();
    return Promise.all(executions);
  });
  return { done, outcomes, metrics: await meters.registry.metrics() };
}
const without = (...chores: Chore[]) => CHORES.filter((chore) => !chores.includes(chore)).sort();

// Guards: every other chore is done although the first of the tick fails and another hangs and ignores its
// cancellation.
test('a chore that fails or hangs keeps none of the others', async () => {
  const { done, outcomes, metrics } = await tick(
    { startRuns: () => Promise.reject(new Error('broken')), settleProjects: () => new Promise(() => {}) },
    { giveUpMs: 3_000 },
  );
  expect([...done].sort()).toEqual(without('startRuns', 'settleProjects'));
  expect(outcomes).toEqual(['failed: startRuns, settleProjects']);
  for (const chore of ['startRuns', 'settleProjects']) {
    expect(metrics).toMatch(new RegExp(`aos_chore_duration_seconds_count\\{chore="${chore}",outcome="failed"\\} [12]`));
  }
  expect(metrics).toContain('aos_chore_duration_seconds_count{chore="startProjects",outcome="done"} 1');
});

// Guards: chores do not wait for each other.
test('chores are done side by side', async () => {
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
  const done: string[] = [];
  const others = Object.fromEntries(CHORES.map((chore) => [chore, async () => void done.push(chore)])) as Partial<
    Record<Chore, Work>
  >;
  const { outcomes } = await tick(
    { ...others, startRuns: () => mayEnd },
    {
      async during() {
        await eventually(() => expect([...done].sort()).toEqual(without('startRuns')));
        end();
      },
    },
  );
  expect(outcomes).toEqual([undefined]);
});
