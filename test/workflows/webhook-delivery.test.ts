/** One delivery of an event: how it is sent, tried again, and given up. */
import { describe, expect, test } from '@jest/globals';
import { first, itemAt } from '../../src/platform/core/present.ts';
import { deliveryRetry, MAX_ATTEMPTS } from '../../src/resources/webhook-subscriptions/model.ts';
import { verifyWebhook } from '../../src/resources/webhook-subscriptions/signature.ts';
import { type Reaction } from '../support/fakes/webhook-receiver.ts';
import {
  useDeliveries,
  receiver,
  scene,
  HOUR_MS,
  SHORT_MS,
  EVENT,
  assemble,
  startWorker,
  register,
  announce,
  ended,
  recorded,
  deliver,
} from './webhook-deliveries.ts';

useDeliveries();

describe('a delivery', () => {
  // Guards: the request is as specified, and its signature fits the bytes that were received.
  test('is a signed POST of the event', async () => {
    const { row, endpoint, isTaken } = await deliver();
    expect(isTaken).toBe(true);
    expect(row).toMatchObject({ status: 'delivered', attempt_count: 1, attempts: [{ status_code: 200, error: null }] });
    const request = first(receiver.received);
    expect(request.headers).toMatchObject({ 'content-type': 'application/json', 'x-service-event': EVENT });
    expect(JSON.parse(request.body)).toEqual({
      type: EVENT,
      created_at: expect.any(Number),
      data: { run_id: '1', agent: 'writer', status: 'succeeded', output: 'Grüße 🌍' },
    });
    const nowS = request.t;
    expect(verifyWebhook(endpoint.secret, request.signature, request.body, { nowS })).toBe(true);
    expect(request.signature).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
  });

  // Guards: a failure that may pass is retried, with a new signature of its own time.
  test('is tried again after a timeout, a reset, a 5xx and a 429', async () => {
    const reactions: Reaction[] = ['timeout', 'reset', 500, 503, 429, 204];
    scene.script = () => itemAt(reactions, receiver.received.length - 1);
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
    expect(first(row.attempts).error).toBe(`no answer within ${SHORT_MS} ms`);
    expect(itemAt(row.attempts, 1).error).toMatch(/UND_ERR_SOCKET|ECONNRESET/);
    expect(row.attempts[2]).toMatchObject({ error: null, response_excerpt: 'answer 500' });
    expect(new Set(receiver.received.map(({ t }) => t)).size).toBe(6);
  });

  // Guards: an answer that no retry would change gets one attempt, and a redirect is not followed.
  test.each([400, 404, 410, 302, 307])('is not tried again after %i', async (status) => {
    scene.script = () => status;
    const { row, isTaken } = await deliver();
    expect(isTaken).toBe(false);
    expect(row).toMatchObject({ status: 'failed', attempt_count: 1, attempts: [{ status_code: status }] });
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook']);
  });

  // Guards: an address that resolves to an internal one is never connected to, and the log says why.
  test('is refused at a forbidden address', async () => {
    const { row, isTaken } = await deliver({ allowlist: [] });
    expect(isTaken).toBe(false);
    expect(row).toMatchObject({ status: 'failed', attempts: [{ status_code: null }] });
    expect(first(row.attempts).error).toContain('loopback');
    expect(receiver.received).toEqual([]);
  });

  // Guards: whatever the receiver sends beside its status, the status counts and the log can store it.
  test.each<[string, Reaction, string]>([
    ['an endless body', 'stall', 'begins'],
    ['a NUL and a character cut in two', { status: 200, body: `\0${'🌍'.repeat(400)}` }, `\uFFFD${'🌍'.repeat(255)}`],
  ])('is delivered under %s', async (_what, reaction, excerpt) => {
    scene.script = () => reaction;
    const { row } = await deliver({ timeoutMs: SHORT_MS });
    expect(row).toMatchObject({ status: 'delivered', attempts: [{ status_code: 200, response_excerpt: excerpt }] });
  });

  // Guards: a worker that shuts down gives the attempt up, and another worker goes on.
  test('survives the shutdown of its worker', async () => {
    const { service, activities } = assemble({ timeoutMs: 30_000 });
    const leaving = await startWorker('orchestration', activities);
    scene.script = () => {
      if (receiver.received.length > 1) return 200;
      leaving.shutdown();
      return 'timeout';
    };
    const left = leaving.run();
    await register(service);
    const id = first(await announce('1'));
    await service.startRecorded([id]);
    await left;
    const next = await startWorker('orchestration', activities);
    await next.runUntil(ended(id));
    expect((await recorded(id)).attempts).toMatchObject([
      { status_code: null, error: 'the worker stopped' },
      { status_code: 200 },
    ]);
  });

  // Guards: there are at most eight attempts.
  test('is exhausted after eight attempts', async () => {
    scene.script = () => 500;
    const { row, isTaken } = await deliver();
    expect(isTaken).toBe(false);
    expect(row).toMatchObject({ status: 'exhausted', attempt_count: MAX_ATTEMPTS, completed_at: expect.any(Date) });
    expect(receiver.received).toHaveLength(MAX_ATTEMPTS);
  });

  // Guards: a delivery whose last attempt recorded nothing, because its worker died, still ends.
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
      const id = first(await announce('1'));
      await service.startRecorded([id]);
      expect(await ended(id)).toBe(false);
      expect((await recorded(id)).status).toBe('exhausted');
      expect(attempts).toBe(MAX_ATTEMPTS);
    });
  });

  // Guards: a delivery has one workflow, however often it is started.
  test('is sent once though started twice', async () => {
    const { service, activities } = assemble();
    const worker = await startWorker('orchestration', activities);
    await worker.runUntil(async () => {
      await register(service);
      const id = first(await announce('1'));
      await Promise.all([service.startRecorded([id]), service.startRecorded([id])]);
      await ended(id);
      await service.startRecorded([id]);
      expect(receiver.received).toHaveLength(1);
    });
  });

  // Guards: where workers are split by queue, the POST runs on the `webhooks` queue and the record beside the workflow.
  test('goes through its own queue where workers are split', async () => {
    scene.script = () => 500;
    const { service, activities } = assemble({ queues: ['orchestration', 'webhooks'] });
    const { deliverWebhook, recordExhausted } = activities;
    const orchestration = await startWorker('orchestration', { recordExhausted });
    const webhooks = await startWorker('webhooks', { deliverWebhook }, false);
    await orchestration.runUntil(
      webhooks.runUntil(async () => {
        await register(service);
        const id = first(await announce('1'));
        await service.startRecorded([id]);
        await ended(id);
        expect(await recorded(id)).toMatchObject({ status: 'exhausted', attempt_count: MAX_ATTEMPTS });
      }),
    );
  });
});

// Guards: waiting for a free place counts as no attempt, and earlier attempts still count.
test('attempts are eight in all', () => {
  expect(deliveryRetry(30_000)).toMatchObject({ initialInterval: 30_000, maximumAttempts: MAX_ATTEMPTS });
  expect(deliveryRetry(30_000, 3)).toMatchObject({ initialInterval: 240_000, maximumAttempts: MAX_ATTEMPTS - 3 });
  expect(deliveryRetry(30_000, 7)).toMatchObject({ initialInterval: HOUR_MS, maximumAttempts: 1 });
});
