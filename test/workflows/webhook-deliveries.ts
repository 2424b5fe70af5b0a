/** Deliveries to a receiver on loopback, by workers that a test starts. */
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { WorkflowFailedError } from '@temporalio/client';
import { Worker, type WorkflowBundle } from '@temporalio/worker';
import { sql } from 'drizzle-orm';
import { createWebhookActivities, type WebhookActivities } from '../../activities/webhooks.ts';
import { createSecretBox } from '../../src/platform/core/crypto.ts';
import { createLog } from '../../src/platform/core/log.ts';
import { first } from '../../src/platform/core/present.ts';
import { createEgress } from '../../src/platform/egress/egress.ts';
import type { Caller } from '../../src/platform/http/endpoint.ts';
import type { TaskQueue } from '../../src/platform/temporal/task-queues.ts';
import { deliveryWorkflowId } from '../../src/resources/webhook-subscriptions/model.ts';
import { createWebhookService, type WebhookService } from '../../src/resources/webhook-subscriptions/service.ts';
import { createWebhookStore, type WebhookStore } from '../../src/resources/webhook-subscriptions/store/index.ts';
import { insertDeliveries } from '../../src/resources/webhook-subscriptions/store/outbox.ts';
import { openTestDatabase, type TestDatabase } from '../support/database/database.ts';
import { connectTestTemporal, type TestTemporal } from '../support/temporal/temporal.ts';
import { startWebhookReceiver, type Script, type WebhookReceiver } from '../support/fakes/webhook-receiver.ts';
import { bundleWorkflows } from '../support/temporal/workflow-bundle.ts';
import { makeWorkspace } from '../support/fixtures/workspaces.ts';
import { ANSWER_LIMITS } from '../support/service/answer-limits.ts';
import { createPlaceStore } from '../../src/resources/receivers/store.ts';
import { createWorkspaceStore } from '../../src/resources/workspaces/store/index.ts';
import { TENANT_DATA } from '../../src/resources/tenant-data.ts';

export const HOUR_MS = 3_600_000;

/** For receivers that do not answer; what one answers at once takes as long on a busy machine as well. */
export const SHORT_MS = 2_000;

export const EVENT = 'run.succeeded';

const secretBox = createSecretBox('a key of the test');

const log = createLog({ level: 'silent', pretty: false });

export let database: TestDatabase;

export let temporal: TestTemporal;

let workflowBundle: WorkflowBundle;

let store: WebhookStore;

export let caller: Caller;

export let receiver: WebhookReceiver;

/** What a test changes: how the receiver answers, and what time it is. */
export const scene: { script: Script; clockMs: number } = { script: () => 200, clockMs: 0 };

/** A service whose retries are as quick as `retryMs`, and activities whose clock goes on by a second at each look. */
export function assemble({
  retryMs = 1,
  timeoutMs = 30_000,
  queues = [] as TaskQueue[],
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
    workspaces: createWorkspaceStore(database.db, TENANT_DATA),
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
    now: () => (scene.clockMs += 1_000),
  });
  return { service, activities };
}

export const startWorker = (
  queue: TaskQueue,
  activities: Partial<WebhookActivities>,
  hasWorkflows = true,
): Promise<Worker> =>
  Worker.create({
    connection: temporal.connection,
    namespace: temporal.namespace,
    taskQueue: temporal.queuePrefix + queue,
    activities,
    ...(hasWorkflows && { workflowBundle }),
  });

export const register = (service: WebhookService, url = receiver.url) =>
  service.create(caller, { url, events: ['*'] }) as Promise<{ id: number; secret: string }>;

export const announce = (runId: string) =>
  insertDeliveries(database.db, {
    customerId: caller.customerId,
    eventType: EVENT,
    eventKey: `run:${runId}`,
    data: { run_id: runId, agent: 'writer', status: 'succeeded', output: 'Grüße 🌍' },
  });

/** Resolves when the delivery's workflow has ended, with whether it ended well. */
export const ended = (deliveryId: string, redelivery = 0): Promise<boolean> =>
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

export const recorded = (deliveryId: string) => store.getDelivery(caller.customerId, deliveryId);

/** Registers an endpoint and sends it one delivery, to its end. */
export async function deliver(options: Parameters<typeof assemble>[0] = {}, url?: string) {
  const { service, activities } = assemble(options);
  const worker = await startWorker('orchestration', activities);
  return worker.runUntil(async () => {
    const endpoint = await register(service, url);
    const id = first(await announce('1'));
    await service.startRecorded([id]);
    const isTaken = await ended(id);
    return { id: id, endpoint, service, isTaken, row: await recorded(id) };
  });
}

/** Before the tests of a file: a database, workflows, and for each test a receiver. */
export function useDeliveries(): void {
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

  beforeEach(async () => {
    await database.db.rows(sql`truncate webhook_delivery_attempts, webhook_deliveries, webhook_subscriptions cascade`);
    scene.script = () => 200;
    receiver = await startWebhookReceiver((request) => scene.script(request));
    scene.clockMs = Date.now();
  });

  afterEach(() => receiver.close());
}
