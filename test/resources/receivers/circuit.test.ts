/** What takes nothing for days is paused, its owners are told, and whatever it takes switches it on again. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { first } from '../../../src/platform/core/present.ts';
import { agentStep, makeTemplate, phaseSpec, startProject } from '../../support/fixtures/projects.ts';
import { UNHURRIED } from '../../support/service/housekeeping.ts';
import { mails } from '../../support/service/otp.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { startWebhookReceiver, type Reaction, type WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';

let receiver: WebhookReceiver;
let service: TestService;
let tenant: Tenant;
let answer: Reaction;
let tenants = 0;

beforeAll(async () => {
  receiver = await startWebhookReceiver(() => answer);
  service = await startTestService({
    env: {
      HOUSEKEEPING_INTERVAL: '1h',
      WEBHOOK_RETRY_INITIAL: '1ms',
      WEBHOOK_PAUSE_AFTER: '3d',
      EGRESS_ALLOWLIST: receiver.hostAndPort,
      WEBHOOK_ALLOW_HTTP: 'true',
    },
  });
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});
beforeEach(async () => {
  answer = 404;
  tenant = await service.tenant(`acc_circuit${tenants++}`);
  const { customerId } = tenant.caller;
  await service.runtime.db.rows(sql`
    insert into workspace_members (id, customer_id, email, role, invited_by) values
      (gen_random_uuid(), ${customerId}, ${`owner@${customerId}.example`}, 'owner', 'test'),
      (gen_random_uuid(), ${customerId}, ${`member@${customerId}.example`}, 'member', 'test')`);
});

const mailsTo = () => mails().filter(({ to }) => JSON.stringify(to).includes(`@${tenant.caller.customerId}.example`));

interface Kind {
  what: string;
  table: string;
  make(): Promise<string>;
  /** Sends something, and waits until it is tried. @returns its delivery */
  send(status: string): Promise<string>;
  state(id: string): Promise<{ on: boolean; failing_since: string | null; paused_at: string | null }>;
  resume(id: string): Promise<number>;
  redeliver(deliveryId: string): Promise<number>;
}

/** Of what this sets off. */
async function deliveryOf(cause: () => Promise<unknown>, path: string, status: string): Promise<string> {
  const latest = async () => (await tenant.cp('GET', `${path}?limit=1`)).body.data[0];
  const before = await latest();
  await cause();
  return eventually(async () => {
    const delivery = await latest();
    expect(delivery).toMatchObject({ status });
    expect(delivery.id).not.toBe(before?.id);
    return delivery.id;
  });
}

const KINDS: Kind[] = [
  {
    what: 'webhook endpoint',
    table: 'webhook_subscriptions',
    async make() {
      return (await tenant.api('POST', '/v1/webhooks', { url: `${receiver.url}/a-secret-path` })).body.id;
    },
    send: (status) =>
      deliveryOf(
        () => tenant.run({ agent: 'assistant', prompt: 'Hello' }),
        ...(['/v1/webhook-deliveries', status] as const),
      ),
    async state(id) {
      const { body } = await tenant.cp('GET', '/v1/webhook-deliveries/endpoints');
      const { active, ...circuit } = body.data.find((row: { id: string }) => row.id === id);
      const listed = (await tenant.api('GET', '/v1/webhooks')).body.data;
      expect(listed).toMatchObject([{ id, active }]);
      expect(Object.keys(listed[0]).sort()).toEqual(['active', 'created_at', 'description', 'events', 'id', 'url']);
      return { on: active, ...circuit };
    },
    resume: async (id) => (await tenant.cp('POST', `/v1/webhook-deliveries/endpoints/${id}/resume`)).status,
    redeliver: async (id) => (await tenant.cp('POST', `/v1/webhook-deliveries/${id}/redeliver`)).status,
  },
  {
    what: 'output destination',
    table: 'output_destinations',
    async make() {
      await makeTemplate(tenant, 'short', [phaseSpec('text', [agentStep('write')])]);
      const destination = { name: 'archive', kind: 'webhook', config: { url: `${receiver.url}/a-secret-path` } };
      return (await tenant.cp('POST', '/v1/output-destinations', destination)).body.id;
    },
    send: (status) =>
      deliveryOf(() => startProject(tenant, 'short'), ...(['/v1/output-destinations/deliveries', status] as const)),
    async state(id) {
      const { body } = await tenant.cp('GET', `/v1/output-destinations/${id}`);
      return { on: body.enabled, ...body };
    },
    resume: async (id) => (await tenant.cp('PATCH', `/v1/output-destinations/${id}`, { enabled: true })).status,
    redeliver: async (id) => (await tenant.cp('POST', `/v1/output-destinations/deliveries/${id}/redeliver`)).status,
  },
];

describe.each(KINDS)('a $what', ({ what, table, make, send, state, resume, redeliver }) => {
  const fromThenOn = (id: string, days: number) =>
    service.runtime.db.rows(sql`
      update ${sql.identifier(table)} set failing_since = failing_since - ${days} * interval '1 day' where id::text = ${String(id)}`);

  /** Fails, and again after days. */
  async function paused(): Promise<{ id: string; deliveryId: string }> {
    const id = await make();
    await send('failed');
    expect(await state(id)).toMatchObject({ on: true, failing_since: expect.any(String), paused_at: null });
    await fromThenOn(id, 4);
    const deliveryId = await send('failed');
    expect(await state(id)).toMatchObject({ on: false, paused_at: expect.any(String) });
    return { id, deliveryId };
  }

  // Guards: failures of a few hours pause nothing, and neither does a single one after quiet days.
  test('goes on when it fails now and then', async () => {
    const id = await make();
    await send('failed');
    await fromThenOn(id, 2);
    await send('failed');
    expect(await state(id)).toMatchObject({ on: true, paused_at: null });
    answer = 200;
    await send('delivered');
    expect(await state(id)).toMatchObject({ on: true, failing_since: null, paused_at: null });
    answer = 404;
    await send('failed');
    expect(await state(id)).toMatchObject({ on: true, paused_at: null });
  });

  // Guards: after days of failure nothing new is sent to the receiver; its owners are told once, without any secret.
  test('that takes nothing for days is paused, and its owners are told', async () => {
    const { id } = await paused();
    const sent = receiver.received.length;
    await (what === 'webhook endpoint'
      ? tenant.run({ agent: 'assistant', prompt: 'Hello' })
      : startProject(tenant, 'short'));
    for (let ticks = 0; ticks < 2; ticks++) await service.services.tellPauses(UNHURRIED);
    expect(receiver.received).toHaveLength(sent);
    const told = mailsTo();
    expect(told).toHaveLength(1);
    expect(JSON.stringify(first(told).to)).not.toContain('member@');
    expect(first(told).text).toContain(String(id));
    expect(first(told).text).not.toContain('a-secret-path');
  });

  // Guards: a person can switch it on again, and it then has the full time again.
  test('that was paused is switched on again', async () => {
    const { id } = await paused();
    expect(await resume(id)).toBe(200);
    expect(await state(id)).toMatchObject({ on: true, failing_since: null, paused_at: null });
    await send('failed');
    expect(await state(id)).toMatchObject({ on: true, paused_at: null });
  });

  // Guards: a delivery that is sent again during the pause and succeeds closes the circuit.
  test('that was paused and takes something goes on', async () => {
    const { id, deliveryId } = await paused();
    answer = 200;
    expect(await redeliver(deliveryId)).toBe(200);
    await eventually(async () =>
      expect(await state(id)).toMatchObject({ on: true, failing_since: null, paused_at: null }),
    );
  });
});
