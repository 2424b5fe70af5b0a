/** Calls to Temporal under a deadline, on a wire that is cut: what is told to have failed does not happen later. */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { WorkflowNotFoundError } from '@temporalio/client';
import { newUuid } from '../../../src/platform/core/ids.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { present } from '../../../src/platform/core/present.ts';
import { connectTemporal, type Temporal } from '../../../src/platform/temporal/client.ts';
import { withinDeadline } from '../../../src/platform/temporal/problems.ts';
import { startTcpProxy, type TcpProxy } from '../../support/faults/tcp-proxy.ts';
import { eventually } from '../../support/service/service.ts';

let wire: TcpProxy;
let temporal: Temporal;
beforeAll(async () => {
  wire = await startTcpProxy(present(process.env.TEST_TEMPORAL_ADDRESS));
  const env = { ...process.env, TEMPORAL_ADDRESS: wire.address };
  temporal = await connectTemporal(env, { log: createLog({ level: 'silent', pretty: false }) });
});
afterEach(() => wire.restore());
afterAll(async () => {
  await temporal?.close();
  await wire?.close();
});

/** There is no worker for it. */
const start = (workflowId: string, requestEagerStart = false) =>
  temporal.client.workflow.start('nothing', { workflowId, taskQueue: 'nobody', requestEagerStart });
const describeOf = (workflowId: string) => temporal.client.workflow.getHandle(workflowId).describe();
const endOf = (workflowId: string) => temporal.client.workflow.getHandle(workflowId).terminate('it was a test');

// Guards against: the SDK's repeating a refused call for ten seconds, which carried out what a route had answered with a 502,
// the end of a workspace among it.
test('a call that was refused is not made when the wire is whole again', async () => {
  const workflowId = `late-${newUuid()}`;
  await wire.cut('refuse');
  await expect(withinDeadline({ ...temporal, answersWithinMs: 500 }, () => start(workflowId))).rejects.toMatchObject({
    code: 'runtime_unreachable',
  });
  await wire.restore();
  await eventually(() => temporal.connection.workflowService.getSystemInfo({}));
  // The SDK's next three attempts would have been made by now.
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  await expect(describeOf(workflowId)).rejects.toBeInstanceOf(WorkflowNotFoundError);
});

// Guards: what comes between two calls of one command counts, too: the second one is not made after the deadline.
test('nor is a call that would only be made after the deadline', async () => {
  const workflowId = `later-${newUuid()}`;
  const [isOver, end] = [Promise.withResolvers<void>(), Promise.withResolvers<unknown>()];
  const answer = withinDeadline({ ...temporal, answersWithinMs: 200 }, async () => {
    await isOver.promise;
    await start(workflowId).then(end.reject, end.resolve);
  });
  await expect(answer).rejects.toMatchObject({ code: 'runtime_unreachable' });
  isOver.resolve();
  expect(await end.promise).toMatchObject({ cause: { code: 4 } });
  await expect(describeOf(workflowId)).rejects.toBeInstanceOf(WorkflowNotFoundError);
});

// Guards: what is refused for a moment is asked again, so that a short absence is nothing to whoever waits.
test('a call that is refused at first is made as soon as it can be', async () => {
  const workflowId = `soon-${newUuid()}`;
  await wire.cut('refuse');
  const started = withinDeadline({ ...temporal, answersWithinMs: 20_000 }, () => start(workflowId));
  const failed = await withinDeadline({ ...temporal, answersWithinMs: 300 }, () => describeOf(workflowId)).catch(
    (error: unknown) => error,
  );
  expect(failed).toMatchObject({ code: 'runtime_unreachable' });
  await wire.restore();
  await started;
  await endOf(workflowId);
});
