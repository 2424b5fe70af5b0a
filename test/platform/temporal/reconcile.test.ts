import { afterEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLog } from '../../../src/platform/core/log.ts';
import { present } from '../../../src/platform/core/present.ts';
import { reconcile } from '../../../src/platform/temporal/reconcile.ts';
import { createTriggers, type Trigger } from '../../../src/platform/temporal/triggers.ts';
import { startTcpProxy, type TcpProxy } from '../../support/faults/tcp-proxy.ts';
import { connectTo } from '../../support/temporal/temporal.ts';
import { triggerOf } from '../../support/temporal/triggers.ts';

let proxy: TcpProxy | undefined;
let close: (() => Promise<void>) | undefined;
afterEach(async () => {
  await close?.();
  await proxy?.close();
});

// Guards against: a comparison of schedules that goes on long after its time because it waits for a slow server, call
// by call.
test('what waits for Temporal is given up when its time is over', async () => {
  proxy = await startTcpProxy(present(process.env.TEST_TEMPORAL_ADDRESS));
  const temporal = await connectTo(proxy.address, createLog({ level: 'silent', pretty: false }));
  close = () => temporal.close();
  const triggers = createTriggers(temporal);
  const inTime = (signal: AbortSignal, wanted: () => Promise<Trigger[]>) =>
    Promise.race([
      reconcile(
        { triggers, followed: [{ prefix: 'reconcile-test/', wanted }], customerId: 'none', workspaceId: 'acc_none' },
        signal,
      ),
      once(signal, 'abort').then(() => sleep(5_000, 'still under way')),
    ]);

  // The list may take as long as a busy machine needs.
  const over = new AbortController();
  const silencing = async () => {
    present(proxy).silence();
    setTimeout(() => over.abort(), 500);
    return [1, 2, 3].map((n) => triggerOf(`reconcile-test/${n}`));
  };
  expect(await inTime(over.signal, silencing)).toEqual({ applied: 0, removed: 0 });
  await expect(inTime(AbortSignal.timeout(500), async () => [])).rejects.toThrow(
    'the schedules could not be listed in time',
  );

  await proxy.restore();
  expect(await inTime(AbortSignal.timeout(40_000), async () => [])).toMatchObject({ applied: 0 });
});
