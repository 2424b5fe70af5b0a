import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { WorkflowFailedError } from '@temporalio/client';
import { Worker, type WorkflowBundle } from '@temporalio/worker';
import { sql } from 'drizzle-orm';
import { createWebhookActivities, type WebhookActivities } from '../../activities/webhooks.ts';
import { createSecretBox } from '../../src/platform/core/crypto.ts';
import { createLog } from '../../src/platform/core/log.ts';
import { createEgress } from '../../src/platform/egress/egress.ts';
import type { Caller } from '../../src/platform/http/endpoint.ts';
import type { Queue } from '../../src/platform/temporal/task-queues.ts';
import { deliveryRetry, deliveryWorkflowId, MAX_ATTEMPTS } from '../../src/resources/webhook-subscriptions/model.ts';
import { createWebhookService, type WebhookService } from '../../src/resources/webhook-subscriptions/service.ts';
import { verifyWebhook } from '../../src/resources/webhook-subscriptions/signature.ts';
import { createWebhookStore, type WebhookStore } from '../../src/resources/webhook-subscriptions/store/index.ts';
import { insertDeliveries } from '../../src/resources/webhook-subscriptions/store/outbox.ts';
import { openTestDatabase, type TestDatabase } from '../support/database/database.ts';
import { connectTestTemporal, type TestTemporal } from '../support/temporal/temporal.ts';
import {
  startWebhookReceiver,
  type Reaction,
  type Script,
  type WebhookReceiver,
} from '../support/fakes/webhook-receiver.ts';
import { bundleWorkflows } from '../support/temporal/workflow-bundle.ts';
import { makeWorkspace } from '../support/fixtures/workspaces.ts';
import { ANSWER_LIMITS } from '../support/service/answer-limits.ts';
import { createPlaceStore } from '../../src/resources/receivers/store.ts';
import { createWorkspaceStore } from '../../src/resources/workspaces/store/index.ts';
import { UNHURRIED } from '../support/service/housekeeping.ts';

const HOUR_MS = 3_600_000;
/** For receivers that do not answer; what one answers at once takes as long on a busy machine as well. */
const SHORT_MS = 2_000;
const EVENT = 'run.succeeded';
const secretBox = createSecretBox('a key of the test');
const log = createLog({ level: 'silent', pretty: false });

let database: TestDatabase;
let temporal: TestTemporal;
let workflowBundle: WorkflowBundle;
let store: WebhookStore;
let caller: Caller;

beforeAll(async () => {
  [database, temporal, workflowBundle] = await Promise.all([
    openTestDatabase(),
    connectTestTemporal(),
    bundleWorkflows(),
  ]);
  store = createWebhookStore(database.db);
  caller = await makeWorkspace(database.db, 'acc_acme');
});
afterAll(async () => {
  await database?.close();
  await temporal?.close();
});

let receiver: WebhookReceiver;
let script: Script;
let clockMs: number;
beforeEach(async () => {
  await database.db.rows(sql`truncate webhook_delivery_attempts, webhook_deliveries, webhook_subscriptions cascade`);
  script = () => 200;
  receiver = await startWebhookReceiver((request) => script(request));
  clockMs = Date.now();
});
afterEach(() => receiver.close());

/** A service whose retries are as quick as `retryMs`, and activities whose clock goes on by a second at each look. */
function assemble({
  retryMs = 1,
  timeoutMs = 30_000,
  queues = [] as Queue[],
  atOnce = 100,
  allowlist = [receiver.hostAndPort],
} = {}) {
  const settings = {
    TASK_QUEUE_PREFIX: temporal.queuePrefix,
    WORKER_QUEUES: queues,
    WEBHOOK_TIMEOUT: timeoutMs,
    WEBHOOK_RETRY_INITIAL: retryMs,
    WEBHOOK_ALLOW_HTTP: true,
  };
  const egress = createEgress({ allowlist, allowHttp: true, limits: ANSWER_LIMITS });
  const service = createWebhookService({
    store,
    workspaces: createWorkspaceStore(database.db),
    temporal,
    secretBox,
    // What is forbidden at delivery only is told by DNS, so registration lets everything pass here.
    egress: { isForbiddenUrl: () => undefined },
    settings,
    log,
  });
  const activities = createWebhookActivities({
    store,
    secretBox,
    fetch: egress.fetch,
    places: createPlaceStore(database.db, { atOnce }),
    log,
    timeoutMs,
    now: () => (clockMs += 1_000),
  });
  return { service, activities };
}

const startWorker = (queue: Queue, activities: Partial<WebhookActivities>, hasWorkflows = true): Promise<Worker> =>
  Worker.create({
    connection: temporal.connection,
    namespace: temporal.namespace,
    taskQueue: temporal.queuePrefix + queue,
    activities,
    ...(hasWorkflows && { workflowBundle }),
  });

const register = (service: WebhookService, url = receiver.url) =>
  service.create(caller, { url, events: ['*'] }) as Promise<{ id: number; secret: string }>;
const announce = (runId: string) =>
  insertDeliveries(database.db, {
    customerId: caller.customerId,
    eventType: EVENT,
    eventKey: `run:${runId}`,
    data: { run_id: runId, agent: 'writer', status: 'succeeded', output: 'Grüße 🌍' },
  });
/** Resolves when the delivery's workflow has ended, with whether it ended well. */
const ended = (deliveryId: string, redelivery = 0): Promise<boolean> =>
  temporal.client.workflow
    .getHandle(deliveryWorkflowId(deliveryId, redelivery))
    .result()
    .then(
      () => true,
      (error: unknown) => {
        if (error instanceof WorkflowFailedError) return false;
        throw error;
      },
    );
const recorded = (deliveryId: string) => store.getDelivery(caller.customerId, deliveryId);

/** Registers an endpoint and sends it one delivery, to its end. */
async function deliver(options: Parameters<typeof assemble>[0] = {}, url?: string) {
  const { service, activities } = assemble(options);
  const worker = await startWorker('orchestration', activities);
  return worker.runUntil(async () => {
    const endpoint = await register(service, url);
    const [id] = await announce('1');
    await service.startRecorded([id!]);
    const isTaken = await ended(id!);
    return { id: id!, endpoint, service, isTaken, row: await recorded(id!) };
  });
}

describe('a delivery', () => {
  // Guards: the request is what the interface promises, and its signature holds for the bytes received.
  test('is a signed POST of the event', async () => {
    const { row, endpoint, isTaken } = await deliver();
    expect(isTaken).toBe(true);
    expect(row).toMatchObject({ status: 'delivered', attempt_count: 1, attempts: [{ status_code: 200, error: null }] });
    const [request] = receiver.received;
    expect(request!.headers).toMatchObject({ 'content-type': 'application/json', 'x-service-event': EVENT });
    expect(JSON.parse(request!.body)).toEqual({
      type: EVENT,
      created_at: expect.any(Number),
      data: { run_id: '1', agent: 'writer', status: 'succeeded', output: 'Grüße 🌍' },
    });
    const nowS = request!.t;
    expect(verifyWebhook(endpoint.secret, request!.signature, request!.body, { nowS })).toBe(true);
    expect(request!.signature).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
  });

  // Guards: whatever a later attempt may mend is tried again, with a signature of its own time.
  test('is tried again after a timeout, a reset, a 5xx and a 429', async () => {
    const reactions: Reaction[] = ['timeout', 'reset', 500, 503, 429, 204];
    script = () => reactions[receiver.received.length - 1]!;
    const { row } = await deliver({ timeoutMs: SHORT_MS });
    expect(row.status).toBe('delivered');
    expect(row.attempts.map(({ attempt, status_code }) => [attempt, status_code])).toEqual([
      [1, null],
      [2, null],
      [3, 500],
      [4, 503],
      [5, 429],
      [6, 204],
    ]);
    expect(row.attempts[0]!.error).toBe(`no answer within ${SHORT_MS} ms`);
    expect(row.attempts[1]!.error).toMatch(/UND_ERR_SOCKET|ECONNRESET/);
    expect(row.attempts[2]).toMatchObject({ error: null, response_excerpt: 'answer 500' });
    expect(new Set(receiver.received.map(({ t }) => t)).size).toBe(6);
  });

  // Guards: an answer that no retry would change gets one attempt, and a redirect is not followed.
  test.each([400, 404, 410, 302, 307])('is not tried again after %i', async (status) => {
    script = () => status;
    const { row, isTaken } = await deliver();
    expect(isTaken).toBe(false);
    expect(row).toMatchObject({ status: 'failed', attempt_count: 1, attempts: [{ status_code: status }] });
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook']);
  });

  // Guards: an address that turns out to be inside is never connected to, and the log says why.
  test('is refused at a forbidden address', async () => {
    const { row, isTaken } = await deliver({ allowlist: [] });
    expect(isTaken).toBe(false);
    expect(row).toMatchObject({ status: 'failed', attempts: [{ status_code: null }] });
    expect(row.attempts[0]!.error).toContain('loopback');
    expect(receiver.received).toEqual([]);
  });

  // Guards: whatever the receiver writes below its status, the status counts and the log can hold it.
  test.each<[string, Reaction, string]>([
    ['an endless body', 'stall', 'begins'],
    ['a NUL and a character cut in two', { status: 200, body: `\0${'🌍'.repeat(400)}` }, `\uFFFD${'🌍'.repeat(255)}`],
  ])('is delivered under %s', async (_what, reaction, excerpt) => {
    script = () => reaction;
    const { row } = await deliver({ timeoutMs: SHORT_MS });
    expect(row).toMatchObject({ status: 'delivered', attempts: [{ status_code: 200, response_excerpt: excerpt }] });
  });

  // Guards: a worker that shuts down lets go of the receiver, and another worker goes on.
  test('survives the shutdown of its worker', async () => {
    const { service, activities } = assemble({ timeoutMs: 30_000 });
    const leaving = await startWorker('orchestration', activities);
    script = () => {
      if (receiver.received.length > 1) return 200;
      leaving.shutdown();
      return 'timeout';
    };
    const left = leaving.run();
    await register(service);
    const [id] = await announce('1');
    await service.startRecorded([id!]);
    await left;
    const next = await startWorker('orchestration', activities);
    await next.runUntil(ended(id!));
    expect((await recorded(id!)).attempts).toMatchObject([
      { status_code: null, error: 'the worker stopped' },
      { status_code: 200 },
    ]);
  });

  // Guards: eight attempts and no more.
  test('is exhausted after eight attempts', async () => {
    script = () => 500;
    const { row, isTaken } = await deliver();
    expect(isTaken).toBe(false);
    expect(row).toMatchObject({ status: 'exhausted', attempt_count: MAX_ATTEMPTS, completed_at: expect.any(Date) });
    expect(receiver.received).toHaveLength(MAX_ATTEMPTS);
  });

  // Guards: a delivery whose last attempt recorded nothing, because its worker died, is ended all the same.
  test('is exhausted also by attempts that died', async () => {
    const { service, activities } = assemble();
    let attempts = 0;
    const deliverWebhook = async () => {
      attempts += 1;
      throw new Error('the worker died');
    };
    const worker = await startWorker('orchestration', { ...activities, deliverWebhook });
    await worker.runUntil(async () => {
      await register(service);
      const [id] = await announce('1');
      await service.startRecorded([id!]);
      expect(await ended(id!)).toBe(false);
      expect((await recorded(id!)).status).toBe('exhausted');
      expect(attempts).toBe(MAX_ATTEMPTS);
    });
  });

  // Guards: one workflow a delivery, however often it is started.
  test('is sent once though started twice', async () => {
    const { service, activities } = assemble();
    const worker = await startWorker('orchestration', activities);
    await worker.runUntil(async () => {
      await register(service);
      const [id] = await announce('1');
      await Promise.all([service.startRecorded([id!]), service.startRecorded([id!])]);
      await ended(id!);
      await service.startRecorded([id!]);
      expect(receiver.received).toHaveLength(1);
    });
  });

  // Guards: where workers are split, the POST happens on the `webhooks` queue and the record beside the workflow.
  test('goes through its own queue where workers are split', async () => {
    script = () => 500;
    const { service, activities } = assemble({ queues: ['orchestration', 'webhooks'] });
    const { deliverWebhook, recordExhausted } = activities;
    const orchestration = await startWorker('orchestration', { recordExhausted });
    const webhooks = await startWorker('webhooks', { deliverWebhook }, false);
    await orchestration.runUntil(
      webhooks.runUntil(async () => {
        await register(service);
        const [id] = await announce('1');
        await service.startRecorded([id!]);
        await ended(id!);
        expect(await recorded(id!)).toMatchObject({ status: 'exhausted', attempt_count: MAX_ATTEMPTS });
      }),
    );
  });
});

describe('an endpoint', () => {
  // Guards: an endpoint that is deleted between two attempts gets no other, even if cancelling its workflows was lost.
  test('gets nothing once it is deleted', async () => {
    script = async () => {
      await database.db.rows(sql`update webhook_subscriptions set deleted_at = now(), active = false`);
      return 500;
    };
    const { row, isTaken } = await deliver();
    expect(isTaken).toBe(true);
    expect(row).toMatchObject({ status: 'dropped', attempt_count: 1 });
    expect(receiver.received).toHaveLength(1);
  });

  // Guards: deleting an endpoint ends deliveries that wait an hour for their next attempt.
  test('takes its waiting deliveries with it', async () => {
    const { service, activities } = assemble({ retryMs: HOUR_MS });
    script = () => 500;
    const worker = await startWorker('orchestration', activities);
    await worker.runUntil(async () => {
      const { id: endpoint } = await register(service);
      const [id] = await announce('1');
      await service.startRecorded([id!]);
      await service.remove(caller, endpoint);
      await ended(id!);
      expect((await recorded(id!)).status).toBe('dropped');
      expect(receiver.received.length).toBeLessThanOrEqual(1);
    });
  });

  // Guards: for a day after a rotation both secrets sign, then the new one alone.
  test('is signed for with both secrets during a rotation', async () => {
    const { service, activities } = assemble();
    const worker = await startWorker('orchestration', activities);
    await worker.runUntil(async () => {
      const { id: endpoint, secret: old } = await register(service);
      const { secret } = await service.rotateSecret(caller, endpoint);
      const next = async (runId: string) => {
        const [id] = await announce(runId);
        await service.startRecorded([id!]);
        await ended(id!);
        const { signature, body, t: nowS } = receiver.received.at(-1)!;
        return [secret, old].map((held) => verifyWebhook(held, signature, body, { nowS }));
      };
      expect(await next('1')).toEqual([true, true]);
      expect(receiver.received[0]!.signature).toMatch(/^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
      clockMs += 24 * HOUR_MS;
      expect(await next('2')).toEqual([true, false]);
    });
  });
});

describe('housekeeping and redelivery', () => {
  // Guards: an ended delivery goes out once more, and its log goes on where it was.
  test('sends an ended delivery again', async () => {
    script = () => (receiver.received.length === 1 ? 404 : 200);
    const { service, activities } = assemble();
    const worker = await startWorker('orchestration', activities);
    await worker.runUntil(async () => {
      await register(service);
      const [id] = await announce('1');
      await service.startRecorded([id!]);
      expect(await ended(id!)).toBe(false);
      await service.redeliver(caller, id!);
      expect(await ended(id!, 1)).toBe(true);
      expect(await recorded(id!)).toMatchObject({
        status: 'delivered',
        redeliveries: 1,
        attempts: [
          { attempt: 1, status_code: 404 },
          { attempt: 2, status_code: 200 },
        ],
      });
    });
  });

  // Guards: a delivery that was recorded and whose start was lost is sent; one whose workflow was ended by hand is given up.
  test('starts what was recorded and never started', async () => {
    const { service, activities } = assemble();
    await register(service);
    const [lost, terminated] = [(await announce('1'))[0]!, (await announce('2'))[0]!];
    await service.startRecorded([terminated]);
    await temporal.client.workflow.getHandle(deliveryWorkflowId(terminated)).terminate();
    await database.db.rows(sql`update webhook_deliveries set due_at = now()`);
    const [fresh] = await announce('3');
    await service.startDue(UNHURRIED);
    const worker = await startWorker('orchestration', activities);
    await worker.runUntil(ended(lost));
    expect((await recorded(lost)).status).toBe('delivered');
    expect((await recorded(terminated)).status).toBe('exhausted');
    expect((await recorded(fresh!)).status).toBe('pending');
  });
});

// Guards: with a receiver that fails three times in ten, nothing is lost, and nothing is tried a ninth time.
test('a hundred deliveries reach a receiver that fails at random', async () => {
  const failures: Reaction[] = ['timeout', 500, 429, 'reset'];
  // The same sequence each time: a linear congruential generator.
  let seed = 42;
  const random = () => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
  const taken = new Set<string>();
  script = ({ body }) => {
    if (random() < 0.3) return failures[Math.floor(random() * failures.length)]!;
    taken.add(JSON.parse(body).data.run_id);
    return 200;
  };
  const { service, activities } = assemble({ timeoutMs: SHORT_MS });
  const worker = await startWorker('orchestration', activities);
  await worker.runUntil(async () => {
    await register(service);
    const ids: string[] = [];
    for (let run = 0; run < 100; run++) ids.push((await announce(`many-${run}`))[0]!);
    await service.startRecorded(ids);
    await Promise.all(ids.map((id) => ended(id)));

    const { data } = await service.listDeliveries(caller, { limit: 500, offset: 0 });
    expect(data).toHaveLength(100);
    for (const row of data) {
      expect(row.attempts).toHaveLength(row.attempt_count);
      expect(row.attempt_count).toBeLessThanOrEqual(MAX_ATTEMPTS);
      expect(row.status).toBe(row.attempts.at(-1)!.status_code === 200 ? 'delivered' : 'exhausted');
    }
    expect(data.filter((row) => row.status === 'delivered')).toHaveLength(taken.size);
    expect(receiver.received.length).toBeGreaterThan(120);
    const signedAt = Map.groupBy(receiver.received, ({ body }) => body);
    for (const requests of signedAt.values()) expect(new Set(requests.map(({ t }) => t)).size).toBe(requests.length);
  });
});

describe('a host', () => {
  /** So many deliveries to endpoints on paths of one receiver, while `atOnce` may be under way. */
  async function flood(count: number, atOnce: number) {
    const { service, activities } = assemble({ atOnce });
    let [underWay, most] = [0, 0];
    script = async () => {
      most = Math.max(most, ++underWay);
      await new Promise((resolve) => setTimeout(resolve, 30));
      underWay--;
      return 200;
    };
    await register(service);
    const ids: string[] = [];
    for (let n = 0; n < count; n++) ids.push(...(await announce(`flood-${n}`)));
    const worker = await startWorker('orchestration', activities);
    await worker.runUntil(async () => {
      await service.startRecorded(ids);
      await Promise.all(ids.map((id) => ended(id)));
    });
    return { ids, most };
  }

  // Guards: no more than that many at once, and half of them of one workspace; what waits loses no attempt.
  test('is sent so many deliveries at once and no more', async () => {
    const { ids, most } = await flood(24, 4);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(2);
    for (const id of ids) expect(await recorded(id)).toMatchObject({ status: 'delivered', attempt_count: 1 });
    const [{ held }] = (await database.db.rows(sql`
      select count(*) filter (where holder is not null)::int as held from delivery_slots`)) as [{ held: number }];
    expect(held).toBe(0);
  }, 60_000);

  // Guards: of two deliveries of one workspace that ask at one moment, one is counted before the other looks.
  test('counts what is being taken at this moment', async () => {
    const places = createPlaceStore(database.db, { atOnce: 2 });
    const wanted = { host: 'rushed.example', customerId: 'acme', forMs: 60_000 };
    expect(await places.take({ ...wanted, holder: 'earlier' })).toBeUndefined();
    await places.giveBack({ host: wanted.host, holder: 'earlier' }, 5);
    const taken = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const first = database.db.transaction(async () => {
      const waitMs = await places.take({ ...wanted, holder: 'first' });
      taken.resolve();
      await ended.promise;
      return waitMs;
    });
    await taken.promise;
    const second = places.take({ ...wanted, holder: 'second' });
    await Promise.race([second, new Promise((resolve) => setTimeout(resolve, 300))]);
    ended.resolve();
    expect(await first).toBeUndefined();
    expect(await second).toBeGreaterThan(0);
  });

  // Guards: a place whose holder died is free again after a while, and its own delivery has it at once.
  test('has its places back', async () => {
    const places = createPlaceStore(database.db, { atOnce: 2 });
    const wanted = { host: 'dying.example', customerId: 'acme', holder: 'first', forMs: 60_000 };
    expect(await places.take(wanted)).toBeUndefined();
    expect(await places.take(wanted)).toBeUndefined();
    // Half of two is one.
    expect(await places.take({ ...wanted, holder: 'second' })).toBeGreaterThan(0);
    expect(await places.take({ ...wanted, customerId: 'other', holder: 'third' })).toBeUndefined();
    expect(await places.take({ ...wanted, customerId: 'another', holder: 'fourth' })).toBeGreaterThan(0);
    await database.db.rows(sql`update delivery_slots set held_until = now() where holder = 'first'`);
    expect(await places.take({ ...wanted, holder: 'second' })).toBeUndefined();
    // Late, and of somebody who has it no more.
    await places.giveBack({ host: wanted.host, holder: 'first' }, 5);
    expect(await places.take({ ...wanted, customerId: 'another', holder: 'fourth' })).toBeGreaterThan(0);
    await places.giveBack({ host: wanted.host, holder: 'second' }, 5);
    expect(await places.take({ ...wanted, customerId: 'another', holder: 'fourth' })).toBeUndefined();
  });
});

// Guards: what was waited for a place is no attempt, and what was tried before is none that is left.
test('attempts are eight in all', () => {
  expect(deliveryRetry(30_000)).toMatchObject({ initialInterval: 30_000, maximumAttempts: MAX_ATTEMPTS });
  expect(deliveryRetry(30_000, 3)).toMatchObject({ initialInterval: 240_000, maximumAttempts: MAX_ATTEMPTS - 3 });
  expect(deliveryRetry(30_000, 7)).toMatchObject({ initialInterval: HOUR_MS, maximumAttempts: 1 });
});
