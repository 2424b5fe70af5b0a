/** A worker at its edges: it cannot be started, or is to end while Temporal is away. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { present } from '../../../src/platform/core/present.ts';
import { startWorker } from '../../../src/worker.ts';
import type { Runtime } from '../../../src/runtime.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';
import { startTcpProxy } from '../../support/faults/tcp-proxy.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ worker: false });
});
afterAll(() => service?.close());

/** One whose schedules cannot be made, as on a disk that is full. */
function withoutSchedules({ temporal, ...runtime }: Runtime): Runtime {
  const schedule = new Proxy(temporal.client.schedule, {
    get: (target, name) =>
      name === 'create' ? () => Promise.reject(new Error('disk I/O error')) : Reflect.get(target, name, target),
  });
  const client = new Proxy(temporal.client, {
    get: (target, name) => (name === 'schedule' ? schedule : Reflect.get(target, name, target)),
  });
  return { ...runtime, temporal: { ...temporal, client } };
}

// Guards against: a start that fails half-way while the workers that began already poll for ever and keep the process
// alive.
test('a worker that cannot be started polls no more', async () => {
  const starting = startWorker(withoutSchedules(service.runtime), service.services);
  await expect(starting).rejects.toThrow('disk I/O error');
  // A connection takes one worker of a queue.
  await service.startWorker();
});

/** A worker that hears nothing is left to the end of the process after its grace and five seconds more. */
const LEFT_MS = 60_000;

// Guards against: a stop that waits for polls which nobody answers any more, for a minute or as long as Temporal is
// away.
test.each(['refuse', 'hang', 'silence'] as const)('a worker ends while Temporal is away (%s)', async (how) => {
  const temporal = present(process.env.TEST_TEMPORAL_ADDRESS);
  const wire = await startTcpProxy(temporal);
  process.env.TEST_TEMPORAL_ADDRESS = wire.address;
  const cutOff = await startTestService({ worker: false }).finally(() => {
    process.env.TEST_TEMPORAL_ADDRESS = temporal;
  });
  const worker = await cutOff.startWorker();
  if (how === 'silence') wire.silence();
  else await wire.cut(how);
  const startedAt = performance.now();
  await worker.close();
  expect(performance.now() - startedAt).toBeLessThan(LEFT_MS);
  await wire.restore();
  await cutOff.close();
  await wire.close();
});
