/** An orderly stop in the midst of work, and an outage of Temporal. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { present } from '../../src/platform/core/present.ts';
import { PARTS, prepareProcesses, type Processes } from '../support/processes/processes.ts';
import { tool } from '../support/fixtures/runs.ts';
import { keepBusy } from '../support/http/busy.ts';
import { eventually } from '../support/service/service.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/fakes/webhook-receiver.ts';
import { dispatch, endsIn, outcomesOf, untilRunning } from './runs.ts';

const GRACE_MS = 2_000;
/** The database, Temporal's client and the process itself take their leave too. */
const LEAVE_MS = 30_000;

let receiver: WebhookReceiver;
let processes: Processes;
const mayAnswer = Promise.withResolvers<void>();
beforeAll(async () => {
  receiver = await startWebhookReceiver(async ({ path }) => {
    if (path.startsWith('/held')) await mayAnswer.promise;
    return 200;
  });
  processes = await prepareProcesses({ SHUTDOWN_GRACE: `${GRACE_MS}ms`, EGRESS_ALLOWLIST: receiver.hostAndPort });
  await processes.start();
});
afterAll(async () => {
  mayAnswer.resolve();
  await processes?.close();
  await receiver?.close();
});

/** A request whose head has arrived and whose body is still on its way. */
async function openRequest(body: string) {
  const { hostname, port } = new URL(processes.url);
  const open = request({
    hostname,
    port,
    method: 'POST',
    path: '/v1/runs',
    headers: {
      authorization: `Bearer ${processes.apiKey}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      expect: '100-continue',
    },
  });
  open.flushHeaders();
  await once(open, 'continue');
  return {
    async finish(): Promise<{ status: number; body: { run_id: string } }> {
      open.end(body);
      const [response] = (await once(open, 'response')) as [IncomingMessage];
      return { status: present(response.statusCode), body: (await json(response)) as { run_id: string } };
    },
  };
}

// Guards: a stop finishes every request that has begun, takes no new one, ends in time, and what was running goes on
// later.
test('SIGTERM drains, and runs go on after the next start', async () => {
  const post = tool('http_request', { method: 'POST', url: `http://${receiver.hostAndPort}/held-post`, body: '{}' });
  const irreversible = await dispatch(processes, post);
  await eventually(() => expect(receiver.received).toHaveLength(1));
  const model = await dispatch(processes, '[[sleep:6000]]');
  await untilRunning(processes, model);
  const open = await openRequest(JSON.stringify({ agent: 'assistant', prompt: 'Hello' }));

  const startedAt = performance.now();
  const stopped = processes.stop('SIGTERM');
  await eventually(() => expect(fetch(`${processes.url}/healthz`)).rejects.toThrow('fetch failed'));
  const accepted = await open.finish();
  expect(accepted.status).toBe(201);
  const codes = await stopped;
  expect(codes).toEqual(codes.map(() => 0));
  expect(performance.now() - startedAt).toBeLessThan(GRACE_MS + LEAVE_MS);

  await processes.start();
  const outcomes = await outcomesOf(processes, { model, irreversible, accepted: accepted.body.run_id });
  const completed = ['run_completed'];
  expect(endsIn(outcomes)).toEqual({ model: completed, irreversible: completed, accepted: completed });
  // The worker left before it had an answer: not repeated, and nobody claims to know what came of it.
  expect(receiver.received).toHaveLength(1);
  expect(outcomes.irreversible.events.find(({ event_type }) => event_type === 'tool_result')).toMatchObject({
    status: 'failed',
    payload: { result_preview: expect.stringContaining('unknown') },
  });
});

// Guards: clients that keep their connections busy notice nothing of a rolling restart but that they connect anew.
test.each(PARTS)('a restart of the %s leaves no request without an answer', async (part) => {
  const busy = keepBusy([`${processes.url}/v1/agents`], 8, { authorization: `Bearer ${processes.apiKey}` });
  const untilMore = (count: number) => eventually(() => expect(busy.answered).toBeGreaterThan(count));
  await untilMore(50);
  expect(await processes.stop('SIGTERM', [part])).toEqual([0]);
  await processes.start();
  await untilMore(busy.answered + 50);
  await busy.end();
  expect({ lost: busy.lost, statuses: [...busy.statuses] }).toEqual({ lost: [], statuses: [200] });
});

// Guards: when Temporal dies and comes back, accepted work goes on, and work that cannot be started is refused rather
// than lost.
test('kill -9 of Temporal', async () => {
  const get = tool('http_request', { url: `http://${receiver.hostAndPort}/page` });
  const runId = await dispatch(
    processes,
    `[[sleep:1000]] ${get} [[then]] ${tool('calculator', { expression: '6 * 7' })}`,
  );
  await untilRunning(processes, runId);
  await processes.killTemporal();
  const { body: before } = await processes.cp('GET', '/v1/runs?limit=1');
  const refused = await processes.api('POST', '/v1/runs', { agent: 'assistant', prompt: 'Hello' });
  expect(refused).toMatchObject({ status: 502, body: { detail: 'runtime_unreachable' } });
  const { body: after } = await processes.cp('GET', '/v1/runs?limit=1');
  expect(after.meta.total).toBe(before.meta.total);

  await processes.restartTemporal();
  const { outcome } = await outcomesOf(processes, { outcome: runId });
  expect(endsIn({ outcome })).toEqual({ outcome: ['run_completed'] });
  expect(outcome.output).toContain('42');
  const { next } = await outcomesOf(processes, { next: await eventually(() => dispatch(processes, 'Hello')) });
  expect(next.status).toBe('succeeded');
});
