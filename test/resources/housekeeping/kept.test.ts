/** Every worker keeps the housekeeping workflow running, also after somebody ended it. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { housekeeperId, keepHousekeeper } from '../../../src/housekeeper.ts';
import { eventually, startTestService, type TestService } from '../../support/service/service.ts';

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
const running = async () => (await workflow().describe()).status.name;

// Guards: however many workers start, one execution keeps house.
test('is started once', async () => {
  const others = await Promise.all([1, 2, 3].map(() => keepHousekeeper(service.runtime)));
  const { runId } = await workflow().describe();
  const worker = await service.startWorker();
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
