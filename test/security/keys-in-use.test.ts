/** With another key than that of what is stored nothing starts, and what is to be delivered meanwhile waits and is not lost. */
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { createWebhookActivities } from '../../activities/webhooks.ts';
import { startApi } from '../../src/api.ts';
import { requireKeysInUse } from '../../src/keys-in-use.ts';
import { ConfigError } from '../../src/platform/core/config.ts';
import { createSecretBox } from '../../src/platform/core/crypto.ts';
import { createServices } from '../../src/compose/services.ts';
import { present } from '../../src/platform/core/present.ts';
import { startWorker } from '../../src/worker.ts';
import { insertDeliveries } from '../../src/resources/webhook-subscriptions/store/outbox.ts';
import { startTestService, TEST_SECRETS, type Tenant, type TestService } from '../support/service/service.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/fakes/webhook-receiver.ts';

const OTHER = 'another-key-than-that-of-before';
const other = createSecretBox(OTHER);
const former = createSecretBox(TEST_SECRETS.SECRETS_KEY);

let service: TestService;
let tenant: Tenant;
let receiver: WebhookReceiver;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  service = await startTestService({
    worker: false,
    env: { WEBHOOK_ALLOW_HTTP: 'true', EGRESS_ALLOWLIST: receiver.hostAndPort },
  });
  tenant = await service.tenant('acc_acme');
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

const check = (keys: string, lost: string[] = []) => requireKeysInUse(service.runtime.db, createSecretBox(keys), lost);

// Guards against: a service that looks healthy and can open nothing, and one that does not start although nothing is
// sealed.
test('what is sealed says which key it needs', async () => {
  await expect(check(OTHER)).resolves.toBeUndefined();
  await tenant.api('POST', '/v1/webhooks', { url: receiver.url });
  const error = await check(OTHER).catch((one: unknown) => one);
  expect(error).toBeInstanceOf(ConfigError);
  const { message } = error as Error;
  expect(message).toContain(
    `does not name the key ${former.keyId}, with which stored secrets are sealed (1 in webhook_subscriptions)`,
  );
  expect(message).toContain('bring that file back');
  expect(message).not.toContain(TEST_SECRETS.SECRETS_KEY);
  await expect(check(`${OTHER},${TEST_SECRETS.SECRETS_KEY}`)).resolves.toBeUndefined();
  await expect(check(OTHER, [former.keyId])).resolves.toBeUndefined();
  await expect(check(OTHER, [other.keyId])).rejects.toThrow(former.keyId);
});

// Guards: each process checks its keys when it starts.
test('neither the API nor a worker starts without it', async () => {
  const runtime = { ...service.runtime, config: { ...service.runtime.config, SECRETS_KEY: OTHER } };
  const services = createServices(runtime);
  await expect(startApi(runtime, services)).rejects.toThrow(former.keyId);
  await expect(startWorker(runtime, services)).rejects.toThrow(former.keyId);
  await services.close();
});

// Guards: deleted endpoints need no key; otherwise a workspace that once changed its keys would keep the whole service
// down.
test('what is deleted needs none', async () => {
  const { body } = await tenant.api('POST', '/v1/webhooks', { url: receiver.url });
  await service.runtime.db.rows(
    sql`update webhook_subscriptions set sealed_secret = '00000000.a.b' where id = ${body.id}`,
  );
  await expect(check(TEST_SECRETS.SECRETS_KEY)).rejects.toThrow('00000000');
  await tenant.api('DELETE', `/v1/webhooks/${body.id}`);
  await expect(check(TEST_SECRETS.SECRETS_KEY)).resolves.toBeUndefined();
});

// Guards against: a delivery that uses up its attempts, none of which was made, because of our own keys.
test('a delivery waits for its key', async () => {
  const { db } = service.runtime;
  const [deliveryId] = await insertDeliveries(db, {
    customerId: tenant.caller.customerId,
    eventType: 'run.succeeded',
    eventKey: 'run:1',
    data: {},
  });
  const told: object[] = [];
  const deliver = (secretBox: typeof other) =>
    asyncLocalStorage.run({ info: { attempt: 3 }, cancellationSignal: new AbortController().signal } as Context, () =>
      createWebhookActivities({
        store: service.services.stores.webhooks,
        secretBox,
        fetch: service.services.egress.fetch,
        places: service.services.places,
        timeoutMs: 5_000,
        log: { error: (what: object) => told.push(what) } as never,
      }).deliverWebhook({ deliveryId: present(deliveryId), redelivery: 0, mayWait: true }),
    );
  expect(await deliver(other)).toEqual({ waitMs: expect.any(Number), made: 2 });
  const attempts = () =>
    db.rows(sql`select attempt_count, status from webhook_deliveries where id = ${deliveryId}::uuid`);
  expect(await attempts()).toEqual([{ attempt_count: 0, status: 'pending' }]);
  expect(told).toEqual([{ key: former.keyId, delivery_id: deliveryId }]);
  expect(receiver.received).toHaveLength(0);
  expect(await deliver(former)).toBeUndefined();
  expect(await attempts()).toEqual([{ attempt_count: 1, status: 'delivered' }]);
});
