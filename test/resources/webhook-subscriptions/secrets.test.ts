/** Signing secrets at rest: each opens for its own row. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { first } from '../../../src/platform/core/present.ts';
import { verifyWebhook } from '../../../src/resources/webhook-subscriptions/signature.ts';
import { secretOwner } from '../../../src/resources/webhook-subscriptions/store/endpoints.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';

const customerId = 'acme';

let receiver: WebhookReceiver;
let service: TestService;
let tenant: Tenant;
beforeAll(async () => {
  receiver = await startWebhookReceiver(() => 200);
  service = await startTestService({
    env: { WEBHOOK_ALLOW_HTTP: 'true', EGRESS_ALLOWLIST: receiver.hostAndPort, WEBHOOK_RETRY_INITIAL: '10ms' },
  });
  tenant = await service.tenant(`acc_${customerId}`);
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});
beforeEach(async () => {
  receiver.received.length = 0;
  await rows(sql`truncate webhook_subscriptions cascade`);
});

interface Sealed {
  sealed_secret: string;
  sealed_previous_secret: string | null;
}
const rows = <Row>(statement: ReturnType<typeof sql>) => service.runtime.db.rows<Row>(statement);
const rowOf = async (id: number): Promise<Sealed> =>
  first(await rows<Sealed>(sql`select * from webhook_subscriptions where id = ${id}`));
const register = async (): Promise<{ id: number; secret: string }> =>
  (await tenant.api('POST', '/v1/webhooks', { url: receiver.url })).body;
const rotate = async (id: number): Promise<string> =>
  (await tenant.cp('POST', `/v1/webhook-deliveries/endpoints/${id}/rotate-secret`)).body.secret;
/** What the next delivery is signed with is right for each of these. */
async function expectSigned(...secrets: string[]): Promise<void> {
  receiver.received.length = 0;
  await tenant.run({ agent: 'assistant', prompt: 'hello' });
  const posted = first(
    await eventually(() => {
      expect(receiver.received).toHaveLength(1);
      return receiver.received;
    }),
  );
  for (const secret of secrets) expect(verifyWebhook(secret, posted.signature, posted.body)).toBe(true);
}

// Guards against: copying the sealed secret of one endpoint into the row of another, by somebody who can write to the
// database.
test('a secret opens for its own row alone', async () => {
  const [mine, other] = [await register(), await register()];
  const { sealed_secret: sealed } = await rowOf(mine.id);
  const { secretBox } = service.services;
  expect(secretBox.open(sealed, secretOwner(customerId, mine.id))).toBe(mine.secret);
  for (const owner of [secretOwner(customerId, other.id), secretOwner('other', mine.id)]) {
    expect(() => secretBox.open(sealed, owner)).toThrow();
  }
});

// Guards against: a secret that cannot be opened and could never be replaced.
test('what cannot be opened is replaced by rotating', async () => {
  const { id } = await register();
  await rows(sql`update webhook_subscriptions set sealed_secret = 'none' where id = ${id}`);
  const secret = await rotate(id);
  expect(await rowOf(id)).toMatchObject({ sealed_previous_secret: null });
  await expectSigned(secret);
});

// Guards against: cutting off a receiver with the old secret before the promised time.
test('a second rotation waits for the end of the first', async () => {
  const { id, secret } = await register();
  const [one, other] = await Promise.all([rotate(id), rotate(id)]);
  const second = one ?? other;
  expect([one, other]).toContain(undefined);
  const path = `/v1/webhook-deliveries/endpoints/${id}/rotate-secret`;
  expect(await tenant.cp('POST', path)).toMatchObject({
    status: 409,
    body: { detail: expect.stringMatching(/signs along until \d{4}-.*rotate again then/) },
  });
  await expectSigned(secret, second);
  await rows(
    sql`update webhook_subscriptions set previous_secret_until = now() - interval '1 second' where id = ${id}`,
  );
  const third = await rotate(id);
  await expectSigned(second, third);
});
