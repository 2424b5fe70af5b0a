/** The oracle of proofs and tests that a service does not stand still: what it must find, and what it must not say. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createLog } from '../../src/platform/core/log.ts';
import { first } from '../../src/platform/core/present.ts';
import { createMeters } from '../../src/platform/observability/meters.ts';
import { watchStalls } from '../../src/platform/observability/stalls.ts';
import { compute, standIdle } from '../support/faults/hold.ts';
import { findStalls, suspectsDuring, watchLoopsAt, watchOwnLoop } from '../support/observability/stall-oracle.ts';
import { portOf } from '../support/processes/listening.ts';

let loop: ReturnType<typeof watchOwnLoop>;
beforeEach(() => void (loop = watchOwnLoop()));
afterEach(() => loop.stop());

const doAll = async (works: readonly (() => void)[]): Promise<void> => {
  for (const work of works) {
    work();
    await new Promise((resolve) => setImmediate(resolve));
  }
};
const quick = (): void => {};
const slow = (): void => compute(600);

// Guards: of several pieces of work, the one that blocks the event loop is named.
test('names what holds the loop up', async () => {
  const stalls = await findStalls(loop, [quick, quick, slow, quick], doAll);
  expect(stalls).toEqual([{ work: slow, ms: expect.any(Number) }]);
  expect(first(stalls).ms).toBeGreaterThan(250);
});

// Guards: the first compilation of code, and garbage collection caused by others, count as no violation.
test('does not name what is slow once', async () => {
  let times = 0;
  const slowOnce = (): void => (times++ === 0 ? compute(600) : undefined);
  expect(await findStalls(loop, [quick, slowOnce], doAll)).toEqual([]);
  expect(times).toBe(2);
});

// Guards: a machine that gives the process no core does not make a proof fail.
test('does not name what waits for the machine', async () => {
  expect(await findStalls(loop, [() => standIdle(600)], doAll)).toEqual([]);
});

// Guards: a process is judged by its own metrics, and one that is down is no reason to stop.
test('finds it in the metrics of another process', async () => {
  const meters = createMeters();
  const stalls = watchStalls({ meters, log: createLog({ level: 'silent', pretty: false }) });
  const server = createServer(async (_request, response) => response.end(await meters.registry.metrics()));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${portOf(server)}`;
  const probe = watchLoopsAt(() => [url, 'http://127.0.0.1:1']);
  expect(await findStalls(probe, [quick, slow], doAll)).toEqual([{ work: slow, ms: expect.any(Number) }]);
  stalls.stop();
  server.close();
});

// Guards: other requests are suspected only for the time of a standstill.
test('suspects what was under way', async () => {
  let doing = 'before';
  const others = (async () => {
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    doing = 'meanwhile';
    compute(600);
    await new Promise((resolve) => setTimeout(resolve, 600));
    doing = 'after';
    await new Promise((resolve) => setTimeout(resolve, 1_200));
  })();
  const { suspects } = await suspectsDuring(loop, () => [doing], others);
  expect(suspects).toContain('meanwhile');
  expect(suspects).not.toContain('before');
});
