import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import express from 'express';
import supertest from 'supertest';
import { createSecretBox } from '../../../src/platform/core/crypto.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { first } from '../../../src/platform/core/present.ts';
import { createEgress } from '../../../src/platform/egress/egress.ts';
import { createSurface, errorHandler } from '../../../src/platform/http/app.ts';
import type { Caller } from '../../../src/platform/http/endpoint.ts';
import { webhookRoutes } from '../../../src/resources/webhook-subscriptions/routes.ts';
import { createWebhookService } from '../../../src/resources/webhook-subscriptions/service.ts';
import { createWebhookStore } from '../../../src/resources/webhook-subscriptions/store/index.ts';
import { insertDeliveries } from '../../../src/resources/webhook-subscriptions/store/outbox.ts';
import { openTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { connectTestTemporal, type TestTemporal } from '../../support/temporal/temporal.ts';
import { makeWorkspace } from '../../support/fixtures/workspaces.ts';
import { ANSWER_LIMITS } from '../../support/service/answer-limits.ts';
import { createWorkspaceStore } from '../../../src/resources/workspaces/store/index.ts';
import { TENANT_DATA } from '../../../src/resources/tenant-data.ts';

const url = 'https://hooks.example.com/in';
const log = createLog({ level: 'silent', pretty: false });

let database: TestDatabase;
let temporal: TestTemporal;
let acme: Caller;
let api: (caller: Caller, options?: { allowHttp?: boolean }) => ReturnType<typeof supertest>;
let other: Caller;

beforeAll(async () => {
  [database, temporal] = await Promise.all([openTestDatabase(), connectTestTemporal()]);
  acme = await makeWorkspace(database.db, 'acc_acme');
  other = await makeWorkspace(database.db, 'acc_other');
  api = (caller, { allowHttp = false } = {}) => {
    const webhooks = createWebhookService({
      store: createWebhookStore(database.db),
      workspaces: createWorkspaceStore(database.db, TENANT_DATA),
      temporal,
      secretBox: createSecretBox('a key of the test'),
      egress: createEgress({ allowlist: ['127.0.0.1:9'], allowHttp: true, limits: ANSWER_LIMITS }),
      settings: {
        TASK_QUEUE_PREFIX: temporal.queuePrefix,
        WORKER_QUEUES: [],
        WEBHOOK_TIMEOUT: 1_000,
        WEBHOOK_RETRY_INITIAL: 1_000,
        WEBHOOK_ALLOW_HTTP: allowHttp,
      },
      log,
    });
    const surface = createSurface({ routes: webhookRoutes({ webhooks }), authenticate: async () => caller });
    return supertest(express().use(surface, errorHandler(log)));
  };
});
beforeEach(() =>
  database.db.rows(sql`truncate webhook_delivery_attempts, webhook_deliveries, webhook_subscriptions cascade`),
);
afterAll(async () => {
  await database?.close();
  await temporal?.close();
});

const register = async (caller = acme, body: object = {}) => {
  const { body: webhook } = await api(caller)
    .post('/v1/webhooks')
    .send({ url, ...body })
    .expect(201);
  return webhook as { id: number; secret: string };
};
/** Recorded, and not sent: these tests run no worker. */
const queueDelivery = async (eventKey: string): Promise<string> => {
  const message = {
    customerId: acme.customerId,
    eventType: 'run.failed',
    eventKey,
    data: { run_id: eventKey },
  } as const;
  return first(await insertDeliveries(database.db, message));
};

describe('endpoints', () => {
  // Guards: the answer to a create has the secret, the list has not, and events default to all.
  test('are registered, listed and deleted', async () => {
    const created = await register(acme, { description: 'ours' });
    expect(created).toEqual({
      id: expect.any(Number),
      url,
      events: ['*'],
      description: 'ours',
      active: true,
      created_at: expect.stringMatching(/Z$/),
      secret: expect.stringMatching(/^whsec_[\w-]{43}$/),
    });
    const { secret, ...listed } = created;
    const { text, body } = await api(acme).get('/v1/webhooks').expect(200);
    expect(body).toEqual({ data: [listed], meta: { total: 1 } });
    expect(text).not.toContain(secret);
    await api(acme).delete(`/v1/webhooks/${created.id}`).expect(204, '');
    await api(acme)
      .get('/v1/webhooks')
      .expect(200, { data: [], meta: { total: 0 } });
    await api(acme).delete(`/v1/webhooks/${created.id}`).expect(404, { detail: 'not_found' });
  });

  // Guards: the events that can be subscribed to; a refusal names the unknown ones.
  test('take known events only', async () => {
    expect(await register(acme, { events: ['run.failed', 'run.failed', '*'] })).toMatchObject({
      events: ['run.failed', '*'],
    });
    await api(acme)
      .post('/v1/webhooks')
      .send({ url, events: ['run.failed', 'run.paused'] })
      .expect(400, { detail: 'unknown event type: run.paused' });
    for (const events of [[], 'run.failed', [1], null]) {
      await api(acme).post('/v1/webhooks').send({ url, events }).expect(422);
    }
    await api(acme).post('/v1/webhooks').send({}).expect(422);
  });

  // Guards: no internal address can be registered, and only https unless the deployment allows http.
  test.each([
    ['http://hooks.example.com/', 400, 201],
    ['http://127.0.0.1:9/', 400, 201],
    ['https://127.0.0.1:9/', 201, 201],
    ['https://127.0.0.1/', 400, 400],
    ['https://2130706433/', 400, 400],
    ['https://[::ffff:10.0.0.1]/', 400, 400],
    ['https://169.254.169.254/latest', 400, 400],
    ['https://localhost/', 400, 400],
    ['https://user:password@hooks.example.com/', 400, 400],
    ['ftp://hooks.example.com/', 400, 400],
    ['hooks.example.com', 400, 400],
  ])('at %s: %i, and %i where http is allowed', async (address, status, whereHttpIsAllowed) => {
    await api(acme).post('/v1/webhooks').send({ url: address }).expect(status);
    await api(acme, { allowHttp: true }).post('/v1/webhooks').send({ url: address }).expect(whereHttpIsAllowed);
  });

  // Guards: another workspace's id is unknown, and so is one that fits no column.
  test('of another workspace are unknown', async () => {
    const { id } = await register();
    for (const unknown of [id, 2_000_000_000, 999_999_999_999_999]) {
      await api(other).delete(`/v1/webhooks/${unknown}`).expect(404, { detail: 'not_found' });
      await api(other)
        .post(`/v1/webhook-deliveries/endpoints/${unknown}/rotate-secret`)
        .expect(404, { detail: 'not_found' });
      await api(other).get(`/v1/webhook-deliveries?endpoint=${unknown}`).expect(200);
    }
    expect((await api(other).get('/v1/webhooks')).body.data).toEqual([]);
    await api(acme).delete(`/v1/webhooks/${id}`).expect(204);
  });

  // Guards: a rotation answers with the new secret and the time until which the old one signs along.
  test('rotate their secret', async () => {
    const { id, secret } = await register();
    const { body } = await api(acme).post(`/v1/webhook-deliveries/endpoints/${id}/rotate-secret`).expect(200);
    expect(body).toEqual({
      id,
      secret: expect.stringMatching(/^whsec_/),
      previous_secret_expires_at: expect.any(String),
    });
    expect(body.secret).not.toBe(secret);
    const hoursLeft = (Date.parse(body.previous_secret_expires_at) - Date.now()) / 3_600_000;
    expect(hoursLeft).toBeGreaterThan(23.9);
    expect(hoursLeft).toBeLessThanOrEqual(24);
  });
});

describe('the delivery log', () => {
  // Guards: deliveries are listed newest first, with filters, pages and counts, of one's own workspace, without secrets
  // or others' addresses.
  test('lists deliveries', async () => {
    const { id: endpoint } = await register(acme, { events: ['run.failed'] });
    const ids = [await queueDelivery('run:a'), await queueDelivery('run:b')];
    const list = async (query: string, caller = acme) =>
      (await api(caller).get(`/v1/webhook-deliveries?${query}`).expect(200)).body;

    const page = await list(`endpoint=${endpoint}&status=pending&limit=1`);
    expect(page.meta).toEqual({ limit: 1, offset: 0, total: 2 });
    expect(page.data).toEqual([
      {
        id: ids.sort().at(-1),
        endpoint_id: endpoint,
        url,
        event_type: 'run.failed',
        status: 'pending',
        attempt_count: 0,
        redeliveries: 0,
        created_at: expect.any(String),
        completed_at: null,
        attempts: [],
      },
    ]);
    expect((await list('offset=5')).data).toEqual([]);
    expect((await list(`endpoint=${endpoint}&status=delivered`)).meta.total).toBe(0);
    expect((await list('', other)).meta.total).toBe(0);
    for (const bad of ['status=lost', 'limit=0', 'limit=501', 'offset=-1', 'endpoint=x']) {
      await api(acme).get(`/v1/webhook-deliveries?${bad}`).expect(422);
    }
  });

  // Guards: who has mended a receiver need not wait for the next attempt; beside an attempt nothing is sent.
  test('sends a delivery again that waits for its next attempt', async () => {
    await register(acme, { events: ['run.failed'] });
    const id = await queueDelivery('run:waits');
    const path = `/v1/webhook-deliveries/${id}/redeliver`;
    const store = createWebhookStore(database.db);
    const first = { deliveryId: id, redelivery: 0 };
    const attempt = { attempt: 1, statusCode: 500, durationMs: 5, error: null, responseExcerpt: 'no' };
    await store.startAttempt(first);
    await api(acme).post(path).expect(409, { detail: 'delivery_in_flight' });
    await store.recordAttempt(first, 'pending', attempt);
    const { body } = await api(acme).post(path).expect(200);
    expect(body).toMatchObject({ id, status: 'pending', redeliveries: 1, attempt_count: 1 });
    expect(await store.startAttempt(first)).toBeUndefined();
    expect(await store.startAttempt({ deliveryId: id, redelivery: 1 })).toMatchObject({ number: 2 });
  });

  // Guards: nothing is sent beside a delivery in flight, and an ended one is sent again under a new number.
  test('sends a delivery again', async () => {
    await register(acme, { events: ['run.failed'] });
    const id = await queueDelivery('run:again');
    const path = `/v1/webhook-deliveries/${id}/redeliver`;
    await api(acme).post(path).expect(409, { detail: 'delivery_in_flight' });
    await createWebhookStore(database.db).recordExhausted({ deliveryId: id, redelivery: 0 });
    await api(other).post(path).expect(404, { detail: 'not_found' });
    const { body } = await api(acme).post(path).expect(200);
    expect(body).toMatchObject({ id, status: 'pending', redeliveries: 1, completed_at: null });
    const { status } = await temporal.client.workflow.getHandle(`webhook-${id}-1`).describe();
    expect(status.name).toBe('RUNNING');
    await api(acme).post('/v1/webhook-deliveries/not-an-id/redeliver').expect(422);
  });

  // Guards: deleting an endpoint drops its waiting deliveries, and the log keeps them.
  test('shows what a deletion dropped', async () => {
    const { id: endpoint } = await register(acme, { events: ['run.failed'] });
    await queueDelivery('run:dropped');
    await api(acme).delete(`/v1/webhooks/${endpoint}`).expect(204);
    const { body } = await api(acme).get(`/v1/webhook-deliveries?endpoint=${endpoint}`).expect(200);
    expect(body.data).toMatchObject([{ status: 'dropped', completed_at: expect.any(String) }]);
  });
});
