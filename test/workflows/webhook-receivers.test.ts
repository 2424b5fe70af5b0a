/** Deliveries by receiver: what an endpoint gets while it is there, and how many a host gets at once. */
import { describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { itemAt, last, present } from '../../src/platform/core/present.ts';
import { deliveryWorkflowId, MAX_ATTEMPTS } from '../../src/resources/webhook-subscriptions/model.ts';
import { verifyWebhook } from '../../src/resources/webhook-subscriptions/signature.ts';
import { type Reaction } from '../support/fakes/webhook-receiver.ts';
import { createPlaceStore } from '../../src/resources/receivers/store.ts';
import { UNHURRIED } from '../support/service/housekeeping.ts';
import {
  useDeliveries,
  receiver,
  database,
  scene,
  temporal,
  caller,
  HOUR_MS,
  SHORT_MS,
  assemble,
  startWorker,
  register,
  announce,
  ended,
  recorded,
  deliver,
} from './webhook-deliveries.ts';

useDeliveries();

describe('an endpoint', () => {
  // Guards: an endpoint that is deleted between two attempts gets no further one, even if the cancellation of its
  // workflows was lost.
  test('gets nothing once it is deleted', async () => {
    scene.script = async () => {
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
    scene.script = () => 500;
    const worker = await startWorker('orchestration', activities);
    await worker.runUntil(async () => {
      const { id: endpoint } = await register(service);
      const id = itemAt(await announce('1'), 0);
      await service.startRecorded([id]);
      await service.remove(caller, endpoint);
      await ended(id);
      expect((await recorded(id)).status).toBe('dropped');
      expect(receiver.received.length).toBeLessThanOrEqual(1);
    });
  });

  // Guards: where an endpoint is deleted and made anew at its address during a delivery, the new one, which may have
  // another owner, gets nothing of the old, and nothing is signed with the other's secret.
  test('that is made anew hears of what comes after it', async () => {
    const { service, activities } = assemble();
    const worker = await startWorker('orchestration', activities);
    let second: { id: number; secret: string } | undefined;
    await worker.runUntil(async () => {
      const first = await register(service);
      scene.script = async () => {
        if (second) return 200;
        await service.remove(caller, first.id);
        second = await register(service);
        return 500;
      };
      const id = itemAt(await announce('1'), 0);
      await service.startRecorded([id]);
      await ended(id);
      expect(await recorded(id)).toMatchObject({ status: 'dropped', attempt_count: 1 });
      await expect(service.redeliver(caller, id)).rejects.toMatchObject({ code: 'not_found' });
      const later = itemAt(await announce('2'), 0);
      await service.startRecorded([later]);
      expect(await ended(later)).toBe(true);
      expect(receiver.received).toHaveLength(2);
      const isSignedBy = ({ secret }: { secret: string }) =>
        receiver.received.map(({ signature, body, t: nowS }) => verifyWebhook(secret, signature, body, { nowS }));
      expect(itemAt(receiver.received, 1).body).toContain('"run_id":"2"');
      expect(isSignedBy(first)).toEqual([true, false]);
      expect(isSignedBy(present(second))).toEqual([false, true]);
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
        const id = itemAt(await announce(runId), 0);
        await service.startRecorded([id]);
        await ended(id);
        const { signature, body, t: nowS } = last(receiver.received);
        return [secret, old].map((held) => verifyWebhook(held, signature, body, { nowS }));
      };
      expect(await next('1')).toEqual([true, true]);
      expect(itemAt(receiver.received, 0).signature).toMatch(/^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
      await database.db.rows(sql`
        update webhook_subscriptions set previous_secret_until = previous_secret_until - interval '24 hours' where id = ${endpoint}`);
      expect(await next('2')).toEqual([true, false]);
    });
  });
});

describe('housekeeping and redelivery', () => {
  // Guards: an ended delivery can be sent once more, and its log continues.
  test('sends an ended delivery again', async () => {
    scene.script = () => (receiver.received.length === 1 ? 404 : 200);
    const { service, activities } = assemble();
    const worker = await startWorker('orchestration', activities);
    await worker.runUntil(async () => {
      await register(service);
      const id = itemAt(await announce('1'), 0);
      await service.startRecorded([id]);
      expect(await ended(id)).toBe(false);
      await service.redeliver(caller, id);
      expect(await ended(id, 1)).toBe(true);
      expect(await recorded(id)).toMatchObject({
        status: 'delivered',
        redeliveries: 1,
        attempts: [
          { attempt: 1, status_code: 404 },
          { attempt: 2, status_code: 200 },
        ],
      });
    });
  });

  // Guards: a recorded delivery whose start was lost is sent; one whose workflow was ended by hand is given up.
  test('starts what was recorded and never started', async () => {
    const { service, activities } = assemble();
    await register(service);
    const [lost, terminated] = [itemAt(await announce('1'), 0), itemAt(await announce('2'), 0)];
    await service.startRecorded([terminated]);
    await temporal.client.workflow.getHandle(deliveryWorkflowId(terminated)).terminate();
    await database.db.rows(sql`update webhook_deliveries set due_at = now()`);
    const fresh = itemAt(await announce('3'), 0);
    await service.startDue(UNHURRIED);
    const worker = await startWorker('orchestration', activities);
    await worker.runUntil(ended(lost));
    expect((await recorded(lost)).status).toBe('delivered');
    expect((await recorded(terminated)).status).toBe('exhausted');
    expect((await recorded(fresh)).status).toBe('pending');
  });
});

// Guards: with a receiver that fails three times in ten nothing is lost, and nothing is tried a ninth time.
test('a hundred deliveries reach a receiver that fails at random', async () => {
  const failures: Reaction[] = ['timeout', 500, 429, 'reset'];
  // The same sequence each time: a linear congruential generator.
  let seed = 42;
  const random = () => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
  const taken = new Set<string>();
  scene.script = ({ body }) => {
    if (random() < 0.3) return itemAt(failures, Math.floor(random() * failures.length));
    taken.add(JSON.parse(body).data.run_id);
    return 200;
  };
  const { service, activities } = assemble({ timeoutMs: SHORT_MS });
  const worker = await startWorker('orchestration', activities);
  await worker.runUntil(async () => {
    await register(service);
    const ids: string[] = [];
    for (let run = 0; run < 100; run++) ids.push(itemAt(await announce(`many-${run}`), 0));
    await service.startRecorded(ids);
    await Promise.all(ids.map((id) => ended(id)));

    const { data } = await service.listDeliveries(caller, { limit: 500, offset: 0 });
    expect(data).toHaveLength(100);
    for (const row of data) {
      expect(row.attempts).toHaveLength(row.attempt_count);
      expect(row.attempt_count).toBeLessThanOrEqual(MAX_ATTEMPTS);
      expect(row.status).toBe(last(row.attempts).status_code === 200 ? 'delivered' : 'exhausted');
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
    scene.script = async () => {
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

  // Guards: the number of simultaneous deliveries is limited, and one workspace gets at most half; waiting uses up no
  // attempt.
  test('is sent so many deliveries at once and no more', async () => {
    const { ids, most } = await flood(24, 4);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(2);
    for (const id of ids) expect(await recorded(id)).toMatchObject({ status: 'delivered', attempt_count: 1 });
    const [{ held }] = (await database.db.rows(sql`
      select count(*) filter (where holder is not null)::int as held from delivery_slots`)) as [{ held: number }];
    expect(held).toBe(0);
  });

  // Guards: of two simultaneous deliveries of one workspace, one is counted before the other asks.
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

  // Guards: the place of a holder that died becomes free after a while, and its own delivery gets it at once.
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
