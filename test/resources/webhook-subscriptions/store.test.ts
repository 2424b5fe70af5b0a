import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { itemAt, present } from '../../../src/platform/core/present.ts';
import type { Caller } from '../../../src/platform/http/endpoint.ts';
import type { WebhookEvent } from '../../../src/resources/webhook-subscriptions/model.ts';
import { createWebhookStore, type WebhookStore } from '../../../src/resources/webhook-subscriptions/store/index.ts';
import { insertDeliveries, outboxCtes } from '../../../src/resources/webhook-subscriptions/store/outbox.ts';
import { openTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { makeWorkspace } from '../../support/fixtures/workspaces.ts';

let database: TestDatabase;
let store: WebhookStore;
let acme: Caller;
let other: Caller;

beforeAll(async () => {
  database = await openTestDatabase();
  store = createWebhookStore(database.db);
  acme = await makeWorkspace(database.db, 'acc_acme');
  other = await makeWorkspace(database.db, 'acc_other');
});
afterAll(() => database?.close());
beforeEach(() =>
  database.db.rows(
    sql`truncate webhook_delivery_attempts, webhook_deliveries, webhook_events, webhook_subscriptions cascade`,
  ),
);

const subscribe = async (caller: Caller, events: string[] = ['*']): Promise<number> => {
  const row = { customerId: caller.customerId, url: 'https://example.com/hook', events };
  return (await store.insertSubscription(row, () => 'sealed')).id;
};
const message = (eventKey = 'run:1', eventType: WebhookEvent = 'run.succeeded') => ({
  customerId: acme.customerId,
  eventType,
  eventKey,
  data: { run_id: '1', output: 'done' },
  createdAtS: 1_700_000_000,
});
const deliveries = async (caller = acme) =>
  (await store.listDeliveries(caller.customerId, { limit: 50, offset: 0 })).data;

describe('the outbox', () => {
  // Guards: each endpoint of the workspace that wants the event gets it, and nobody else does.
  test('queues one delivery for each endpoint that wants the event', async () => {
    const all = await subscribe(acme);
    const named = await subscribe(acme, ['run.failed', 'run.succeeded']);
    await subscribe(acme, ['project.completed']);
    await subscribe(other);
    const deleted = await subscribe(acme);
    await store.deleteSubscription(acme.customerId, deleted);

    const ids = await insertDeliveries(database.db, message());

    const queued = await deliveries();
    expect(queued.map((row) => row.endpoint_id).sort()).toEqual([all, named].sort());
    expect(queued.map((row) => row.id).sort()).toEqual([...ids].sort());
    expect(await deliveries(other)).toEqual([]);
    const [attempt] = await Promise.all([store.startAttempt({ deliveryId: itemAt(ids, 0), redelivery: 0 })]);
    expect(present(attempt).body).toBe(
      '{"type":"run.succeeded","created_at":1700000000,"data":{"run_id":"1","output":"done"}}',
    );
  });

  // Guards: a repeated record of a run's end queues nothing new, and returns the same deliveries to start.
  test('is the same when it is repeated', async () => {
    await subscribe(acme);
    await subscribe(acme);
    const first = await insertDeliveries(database.db, message());
    await store.recordExhausted({ deliveryId: itemAt(first, 0), redelivery: 0 });
    expect(await insertDeliveries(database.db, message())).toEqual([first[1]]);
    expect(await deliveries()).toHaveLength(2);
    expect(await insertDeliveries(database.db, message('run:2'))).toHaveLength(2);
  });

  // Guards: an event's body is stored once, however many endpoints get it, and not at all where none does.
  test('keeps one copy of what is told', async () => {
    const told = { ...message('run:large'), data: { output: 'x'.repeat(100_000) } };
    await insertDeliveries(database.db, told);
    expect(await database.db.rows(sql`select 1 from webhook_events`)).toEqual([]);
    for (let n = 0; n < 20; n++) await subscribe(acme);
    const ids = await insertDeliveries(database.db, told);
    expect(ids).toHaveLength(20);
    const [{ bytes }] = (await database.db.rows(sql`
      select sum(octet_length(body))::int as bytes from webhook_events`)) as [{ bytes: number }];
    expect(bytes).toBeLessThan(101_000);
    for (const deliveryId of ids) {
      expect(present(await store.startAttempt({ deliveryId, redelivery: 0 })).body).toHaveLength(bytes);
    }
  });

  // Guards: ids sort by time, so that the order of the log is that of its index.
  test('makes ids of version 7 that sort by time', async () => {
    await subscribe(acme);
    const before = Date.now();
    const [id] = await insertDeliveries(database.db, message());
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-/);
    const madeAt = Number.parseInt(present(id).replaceAll('-', '').slice(0, 12), 16);
    expect(Math.abs(madeAt - before)).toBeLessThan(10_000);
  });

  // Guards: as part of another statement, a delivery is queued only if that statement changed its row.
  test.each([
    [true, 1],
    [false, 0],
  ])('follows its guard: %s', async (isTrue, expected) => {
    await subscribe(acme);
    await database.db.rows(
      sql`with ended as (select 1 where ${isTrue}::boolean), ${outboxCtes(sql`ended`, message())} select id from deliveries`,
    );
    expect(await deliveries()).toHaveLength(expected);
  });
});

describe('a delivery', () => {
  const answered = (attempt: number, statusCode: number) => ({
    attempt,
    statusCode,
    durationMs: 5,
    error: null,
    responseExcerpt: 'text',
    ts: new Date('2026-01-02T03:04:05.678Z'),
  });

  // Guards: a repeated record changes nothing.
  test('records an attempt once', async () => {
    await subscribe(acme);
    const deliveryId = itemAt(await insertDeliveries(database.db, message()), 0);
    const ref = { deliveryId: deliveryId, redelivery: 0 };
    const { number } = present(await store.startAttempt(ref));
    await store.recordAttempt(ref, 'delivered', answered(number, 200));
    await store.recordAttempt(ref, 'failed', answered(number, 404));
    const [row] = await deliveries();
    expect(row).toMatchObject({ status: 'delivered', attempt_count: 1, attempts: [{ attempt: 1, status_code: 200 }] });
    expect(new Date(itemAt(present(row).attempts, 0).ts).toISOString()).toBe('2026-01-02T03:04:05.678Z');
    expect(present(row).completed_at).not.toBeNull();
  });

  // Guards: a workflow that a redelivery has replaced can neither send nor end the delivery.
  test('belongs to its latest redelivery', async () => {
    await subscribe(acme);
    const deliveryId = itemAt(await insertDeliveries(database.db, message()), 0);
    const first = { deliveryId: deliveryId, redelivery: 0 };
    await store.recordExhausted(first);
    await store.redeliver(acme.customerId, deliveryId);
    await store.recordExhausted(first);
    expect(await store.startAttempt(first)).toBeUndefined();
    expect(itemAt(await deliveries(), 0).status).toBe('pending');
    expect(await store.startAttempt({ ...first, redelivery: 1 })).toMatchObject({ number: 1 });
  });

  // Guards: a delivery that is queued while its endpoint is deleted is dropped in its turn.
  test('is dropped when its endpoint is gone', async () => {
    const endpoint = await subscribe(acme);
    const deliveryId = itemAt(await insertDeliveries(database.db, message()), 0);
    await database.db.rows(
      sql`update webhook_subscriptions set deleted_at = now(), active = false where id = ${endpoint}`,
    );
    expect(await store.startAttempt({ deliveryId: deliveryId, redelivery: 0 })).toBeUndefined();
    expect((await deliveries())[0]).toMatchObject({ status: 'dropped', attempt_count: 0 });
    await expect(store.redeliver(acme.customerId, deliveryId)).rejects.toMatchObject({ code: 'not_found' });
  });

  // Guards: housekeeping takes every waiting delivery, a few at a time, and no fresh one.
  test('is found by housekeeping once it waits for long', async () => {
    await subscribe(acme);
    const ids: string[] = [];
    for (const n of [1, 2, 3]) ids.push(...(await insertDeliveries(database.db, message(`run:${n}`))));
    const fresh = await insertDeliveries(database.db, message('run:4'));
    await database.db.rows(sql`update webhook_deliveries set due_at = now() where id <> ${fresh[0]}`);
    const take = async () => (await store.takeDue({ after: '', workspaces: 10, each: 2 })).ids;
    const first = await take();
    expect((await store.listStartable(first))[0]).toEqual({
      customerId: acme.customerId,
      deliveryId: expect.any(String),
      redelivery: 0,
      eventType: 'run.succeeded',
      workspaceId: acme.workspaceId,
    });
    expect([...first, ...(await take())].sort()).toEqual([...ids].sort());
    expect(await take()).toEqual([]);
  });
});
