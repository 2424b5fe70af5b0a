import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { verifyWebhook } from '../../../src/resources/webhook-subscriptions/signature.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { dispatch, tool, untilStatus } from '../../support/fixtures/runs.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import { WEBHOOKS } from '../../../src/resources/webhook-subscriptions/events/contract.ts';

let receiver: WebhookReceiver;
let service: TestService;
beforeAll(async () => {
  // Not to be had the first time, so that one delivery takes two attempts.
  let requests = 0;
  receiver = await startWebhookReceiver(() => (++requests === 1 ? 503 : 200));
  service = await startTestService({
    env: { WEBHOOK_ALLOW_HTTP: 'true', EGRESS_ALLOWLIST: receiver.hostAndPort, WEBHOOK_RETRY_INITIAL: '100ms' },
  });
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

async function subscribe(tenant: Tenant, events?: string[]): Promise<string> {
  const { status, body } = await tenant.api('POST', '/v1/webhooks', { url: receiver.url, ...(events && { events }) });
  expect(status).toBe(201);
  return body.secret;
}

const received = (runId: string) => receiver.received.filter(({ body }) => body.includes(runId));
const recorded = (runId: string) =>
  service.runtime.db.rows<{ event_type: string }>(sql`
    select event_type from webhook_deliveries where event_key = ${`run:${runId}`} order by event_type`);
const untilReceived = (runId: string, count: number) =>
  eventually(() => expect(received(runId).length).toBeGreaterThanOrEqual(count));

// Guards: the receiver gets what service.md says, signed with its secret, and retried where needed.
test('the end of a run is delivered and signed', async () => {
  const acme = await service.tenant('acc_acme');
  const secret = await subscribe(acme);
  const succeeded = await acme.run({ agent: 'writer', prompt: 'Größe and 😀' });
  await untilReceived(succeeded.run_id, 2);
  const failed = await acme.run({ agent: 'writer', prompt: '[[fail-status:400]]' });
  await untilReceived(failed.run_id, 1);
  for (const [run, type] of [
    [succeeded, 'run.succeeded'],
    [failed, 'run.failed'],
  ] as const) {
    for (const { headers, body, signature } of received(run.run_id)) {
      expect(headers).toMatchObject({ 'content-type': 'application/json', 'x-service-event': type });
      // What the documents say is all that is sent: a field that they do not name would be missing here.
      expect(WEBHOOKS[type].body.parse(JSON.parse(body))).toEqual(JSON.parse(body));
      expect(WEBHOOKS[type].headers.safeParse(headers)).toMatchObject({ success: true });
      expect(verifyWebhook(secret, signature, body)).toBe(true);
      expect(verifyWebhook(`${secret}x`, signature, body)).toBe(false);
      const { run_id, agent, status, output } = run;
      expect(JSON.parse(body)).toEqual({
        type,
        created_at: expect.any(Number),
        data: { run_id, agent, status, output },
      });
      expect(Math.abs(JSON.parse(body).created_at - Date.now() / 1_000)).toBeLessThan(60);
    }
  }
  expect(received(succeeded.run_id)).toHaveLength(2);
  const [log] = (await acme.cp('GET', '/v1/webhook-deliveries?limit=1&offset=1')).body.data;
  const ids = received(succeeded.run_id).map(({ headers }) => headers['x-service-delivery']);
  expect(ids).toEqual([log.id, log.id]);
  const events = received(succeeded.run_id).map(({ headers }) => headers['x-service-event-id']);
  expect(events).toEqual([`run:${succeeded.run_id}`, `run:${succeeded.run_id}`]);
  expect(received(failed.run_id)).toHaveLength(1);
});

// Guards: an endpoint gets only the events that it asked for, once, and never another workspace's.
test('endpoints get the events they chose', async () => {
  const [beta, other] = [await service.tenant('acc_beta'), await service.tenant('acc_other')];
  const secrets = [
    await subscribe(beta, ['run.failed']),
    await subscribe(beta, ['run.succeeded']),
    await subscribe(beta),
  ];
  await subscribe(other);
  const run = await beta.run({ agent: 'writer', prompt: 'Hello' });
  expect(await recorded(run.run_id)).toEqual([{ event_type: 'run.succeeded' }, { event_type: 'run.succeeded' }]);
  await untilReceived(run.run_id, 2);
  const signedBy = received(run.run_id).map(({ signature, body }) =>
    secrets.findIndex((secret) => verifyWebhook(secret, signature, body)),
  );
  expect(signedBy.sort()).toEqual([1, 2]);
});

// Guards: a cancelled run and a spawned run send no webhook. Deliveries are recorded with the end of the run, so that
// none is there shows that none will come.
test('cancelled and spawned runs are not announced', async () => {
  const gamma = await service.tenant('acc_gamma');
  await subscribe(gamma);
  const cancelled = await dispatch(gamma, { agent: 'assistant', prompt: '[[sleep:60000]]' });
  await untilStatus(gamma, cancelled, 'running');
  await gamma.cp('POST', `/v1/runs/${cancelled}/cancel`);
  const parent = await gamma.run({
    agent: 'assistant',
    prompt: [
      tool('spawn_run', { agent: 'writer', prompt: 'A part' }),
      tool('spawn_run', { agent: 'writer', prompt: '[[fail-status:400]]' }),
    ].join(' '),
  });
  const { body } = await gamma.cp('GET', '/v1/runs?agent=writer');
  const children: string[] = body.data.map(({ run_id }: { run_id: string }) => run_id);
  expect(children).toHaveLength(2);
  for (const id of [cancelled, ...children]) expect(await recorded(id)).toEqual([]);
  expect(await recorded(parent.run_id)).toEqual([{ event_type: 'run.succeeded' }]);
  await untilReceived(parent.run_id, 1);
});

// Guards: runs that were started in any way other than spawning are announced, including the retry of a spawned one.
test.each(['rest', 'cron', 'slack'])('runs over %s are announced, and so are their retries', async (transport) => {
  const tenant = await service.tenant(`acc_by_${transport}`);
  await subscribe(tenant);
  const run = await tenant.run({ agent: 'writer', transport, prompt: 'Hello' });
  const retry = await tenant.cp('POST', `/v1/runs/${run.run_id}/retry`);
  await tenant.waitForRun(retry.body.run_id);
  for (const id of [run.run_id, retry.body.run_id]) await untilReceived(id, 1);
});
