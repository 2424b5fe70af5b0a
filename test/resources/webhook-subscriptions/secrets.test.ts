/** Signing secrets at rest: each opens for its own row; those of earlier releases sign too, and are brought forward. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { first, present } from '../../../src/platform/core/present.ts';
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
  secrets_bound: boolean;
}
const rows = <Row>(statement: ReturnType<typeof sql>) => service.runtime.db.rows<Row>(statement);
const rowOf = async (id: number): Promise<Sealed> =>
  first(await rows<Sealed>(sql`select * from webhook_subscriptions where id = ${id}`));
const register = async (): Promise<{ id: number; secret: string }> =>
  (await tenant.api('POST', '/v1/webhooks', { url: receiver.url })).body;
const rotate = async (id: number): Promise<string> =>
  (await tenant.cp('POST', `/v1/webhook-deliveries/endpoints/${id}/rotate-secret`)).body.secret;
/** As it was left by an earlier release. */
async function makeOld(id: number, secret: string, previous?: string): Promise<void> {
  const seal = (text: string) => service.services.secretBox.seal(text, secretOwner(customerId, id, false));
  await rows(sql`update webhook_subscriptions set secrets_bound = false, sealed_secret = ${seal(secret)},
    sealed_previous_secret = ${previous === undefined ? null : seal(previous)} where id = ${id}`);
}
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
  const { sealed_secret: sealed, secrets_bound: isBound } = await rowOf(mine.id);
  expect(isBound).toBe(true);
  const { secretBox } = service.services;
  expect(secretBox.open(sealed, secretOwner(customerId, mine.id))).toBe(mine.secret);
  for (const owner of [
    secretOwner(customerId, other.id),
    secretOwner('other', mine.id),
    secretOwner(customerId, mine.id, false),
  ]) {
    expect(() => secretBox.open(sealed, owner)).toThrow();
  }
});

// Guards against: endpoints of an earlier release whose deliveries would be unsigned or not sent.
test('those of an earlier release sign, before and after they are brought forward', async () => {
  const { id } = await register();
  await makeOld(id, 'whsec_old', 'whsec_older');
  await rows(sql`update webhook_subscriptions set previous_secret_until = now() + interval '1 hour'`);
  await expectSigned('whsec_old', 'whsec_older');
  await Promise.all([service.services.webhooks.bindSecrets(), service.services.webhooks.bindSecrets()]);
  const row = await rowOf(id);
  expect(row.secrets_bound).toBe(true);
  const opened = [row.sealed_secret, present(row.sealed_previous_secret)].map((sealed) =>
    service.services.secretBox.open(sealed, secretOwner(customerId, id)),
  );
  expect(opened).toEqual(['whsec_old', 'whsec_older']);
  await expectSigned('whsec_old', 'whsec_older');
});

// Guards: after a rotation during the migration the old secret signs along for a day.
test('rotating one of an earlier release keeps it as the previous one', async () => {
  const { id } = await register();
  await makeOld(id, 'whsec_old');
  const secret = await rotate(id);
  expect((await rowOf(id)).secrets_bound).toBe(true);
  await expectSigned(secret, 'whsec_old');
  await rows(sql`update webhook_subscriptions set previous_secret_until = now() where id = ${id}`);
  const newest = await rotate(id);
  await expectSigned(newest, secret);
});

// Guards against: one secret that cannot be opened and keeps the others from being migrated or replaced.
test('what cannot be opened stays, and is replaced by rotating', async () => {
  const [lost, other] = [await register(), await register()];
  await makeOld(other.id, 'whsec_old');
  await rows(sql`update webhook_subscriptions set secrets_bound = false, sealed_secret = 'none' where id = ${lost.id}`);
  await service.services.webhooks.bindSecrets();
  expect(await rowOf(lost.id)).toMatchObject({ secrets_bound: false, sealed_secret: 'none' });
  expect((await rowOf(other.id)).secrets_bound).toBe(true);
  await rotate(lost.id);
  await tenant.api('DELETE', `/v1/webhooks/${other.id}`);
  expect(await rowOf(lost.id)).toMatchObject({ secrets_bound: true, sealed_previous_secret: null });
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
