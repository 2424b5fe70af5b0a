/** Housekeeping is kept: by whoever starts, after somebody ended it, and beside workers of an earlier release. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ScheduleNotFoundError } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { fileURLToPath } from 'node:url';
import { housekeeperId, keepHousekeeper } from '../../../src/housekeeper.ts';
import { ensureSchedule } from '../../../src/platform/temporal/schedules.ts';
import { eventually, startTestService, type TestService } from '../../support/service/service.ts';
import { bundleOfFile } from '../../support/temporal/workflow-bundle.ts';

const EARLIER = ['housekeeping', 'integration-health', 'retention', 'metering'];
const OFTEN_MS = 200;

let service: TestService;
let taskQueue: string;
beforeAll(async () => {
  service = await startTestService({ worker: false, env: { HOUSEKEEPING_INTERVAL: '1s' } });
  taskQueue = `${service.runtime.config.TASK_QUEUE_PREFIX}orchestration`;
});
afterAll(() => service?.close());
beforeEach(() =>
  workflow()
    .terminate()
    .catch(() => {}),
);

const id = () => housekeeperId(service.runtime.config);
const workflow = () => service.runtime.temporal.client.workflow.getHandle(id());
const schedule = (name: string) =>
  service.runtime.temporal.client.schedule.getHandle(service.runtime.config.TASK_QUEUE_PREFIX + name);
const isThere = (name: string): Promise<boolean> =>
  schedule(name)
    .describe()
    .then(
      () => true,
      (error: unknown) => {
        if (error instanceof ScheduleNotFoundError) return false;
        throw error;
      },
    );
const makeTick = (name: string) =>
  ensureSchedule(service.runtime.temporal, {
    scheduleId: service.runtime.config.TASK_QUEUE_PREFIX + name,
    workflowType: 'housekeeping',
    taskQueue,
    when: { everyMs: 3_600_000 },
  });
const running = async () => (await workflow().describe()).status.name;

// Guards: an upgrade takes the schedules of the earlier release away, and however many workers start, one workflow keeps
// house.
test('takes the place of the schedules of an earlier release', async () => {
  for (const name of EARLIER) await makeTick(name);
  const others = await Promise.all([1, 2, 3].map(() => keepHousekeeper(service.runtime)));
  const { runId } = await workflow().describe();
  const worker = await service.startWorker();
  for (const name of EARLIER) await eventually(async () => expect(await isThere(name)).toBe(false));
  expect(await workflow().describe()).toMatchObject({ runId, status: { name: 'RUNNING' } });
  for (const leave of others) leave();
  await worker.close();
});

// Guards: whoever terminates it by hand, or loses it, has it back: from a process that lives, and from one that starts.
test('is started again', async () => {
  const leave = await keepHousekeeper(service.runtime, OFTEN_MS);
  await workflow().terminate();
  await eventually(async () => expect(await running()).toBe('RUNNING'));
  leave();
  await workflow().terminate();
  const worker = await service.startWorker();
  expect(await running()).toBe('RUNNING');
  await worker.close();
});

// Guards: of what is over only the latest stays in the list of workflows.
test('leaves the list of workflows short', async () => {
  const { client } = service.runtime.temporal;
  const rhythm = { choresMs: 100, credentialsMs: 3_600_000, isMetered: false };
  const input = { rhythm, continueAfterRounds: 1 };
  await client.workflow.start('housekeeper', { workflowId: id(), taskQueue, args: [input] });
  const first = await workflow().describe();
  const worker = await service.startWorker();
  await eventually(async () => {
    const found = await client.workflow
      .getHandle(id(), first.runId)
      .describe()
      .catch(() => undefined);
    expect(found).toBeUndefined();
  });
  expect(await running()).toBe('RUNNING');
  await worker.close();
});

// Guards: a worker of an earlier release that gets its tasks ends nothing; while there is no other, its own schedule keeps
// house, and goes when there is one.
test('waits, beside workers of an earlier release, for one that knows it', async () => {
  const { connection, namespace } = service.runtime.temporal;
  const workflowsPath = fileURLToPath(new URL('./fixtures/earlier-release.ts', import.meta.url));
  const earlier = await Worker.create({
    connection,
    namespace,
    taskQueue,
    workflowBundle: await bundleOfFile(workflowsPath),
  });
  let leave = () => {};
  await earlier.runUntil(async () => {
    leave = await keepHousekeeper(service.runtime, OFTEN_MS);
    await eventually(async () => expect(await isThere('housekeeping')).toBe(true));
    expect(await running()).toBe('RUNNING');
  });
  leave();
  const worker = await service.startWorker();
  await eventually(async () => expect(await isThere('housekeeping')).toBe(false));
  expect(await running()).toBe('RUNNING');
  await worker.close();
});
