/** Minutes of managed infrastructure, on a clock that is moved by moving what was charged up to. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { defaultPayloadConverter } from '@temporalio/common';
import { sql } from 'drizzle-orm';
import { housekeeperId } from '../../../src/housekeeper.ts';
import { present } from '../../../src/platform/core/present.ts';
import type { Plan } from '../../../src/resources/workspaces/model.ts';
import { eventually, startTestService, type TestService } from '../../support/service/service.ts';
import { makeWorkspace } from '../../support/fixtures/workspaces.ts';

const LIVE = { BILLING_MODE: 'live', STRIPE_SECRET_KEY: 'sk_test_1', STRIPE_WEBHOOK_SECRET: 'whsec_1' };
const PER_MINUTE = 1_667;

let service: TestService;
let acme: string;
let count = 0;
beforeAll(async () => {
  service = await startTestService({ env: LIVE, worker: false });
});
beforeEach(async () => {
  acme = await workspace('starter_hosted');
});
afterAll(() => service?.close());

const workspace = async (plan: Plan) =>
  (await makeWorkspace(service.runtime.db, `acc_hosted_${++count}`, plan)).customerId;
const run = (statement: ReturnType<typeof sql>) => service.runtime.db.rows(statement);
async function tick(): Promise<number> {
  await service.services.metering.follow();
  return service.services.metering.charge(100);
}
async function chargesOf(customerId: string) {
  const { rows } = await service.services.stores.wallets.list(customerId, { limit: 500, offset: 0 });
  return rows.toReversed();
}
/** Minutes that were charged, in one row or in many. */
const minutesOf = async (customerId: string) =>
  (0 - (await service.services.stores.wallets.balance(customerId))) / PER_MINUTE;
/** As if so much time had gone by since then. */
const pass = (time: string, customerId = acme) =>
  run(sql`
    update workspaces set ready_at = ready_at - ${time}::interval,
      infra_charged_until = infra_charged_until - ${time}::interval
    where customer_id = ${customerId}`);

describe('a hosted workspace that is ready', () => {
  // Guards: whole minutes are charged once each from when a workspace was ready; the remainder is charged when its
  // infrastructure ends.
  test('is charged by the minute', async () => {
    await pass('90 seconds');
    await tick();
    expect(await chargesOf(acme)).toMatchObject([
      { kind: 'managed_infra', delta_usd_micros: -PER_MINUTE, balance_after_usd_micros: -PER_MINUTE },
    ]);
    await tick();
    expect(await minutesOf(acme)).toBe(1);
    await pass('40 seconds');
    await tick();
    expect(await minutesOf(acme)).toBe(2);
    for (const { meta } of await chargesOf(acme)) {
      expect(meta.minutes).toBe(1);
      expect(Date.parse(meta.to as string) - Date.parse(meta.from as string)).toBe(60_000);
    }
  });

  // Guards: missed ticks are made up for in one charge, even below zero, because what was used is owed.
  test('is charged for the minutes that no tick came', async () => {
    await tick();
    await service.services.stores.wallets.post({
      customerId: acme,
      key: 'session:cs_1',
      kind: 'topup',
      deltaUsdMicros: 10 * PER_MINUTE,
    });
    await pass('3 hours');
    await tick();
    expect(await service.services.stores.wallets.balance(acme)).toBe(-170 * PER_MINUTE);
    expect((await chargesOf(acme)).map(({ kind }) => kind)).toEqual(['topup', 'managed_infra']);
  });

  // Guards: simultaneous ticks, and one that died half-way, charge each minute once.
  test('is charged once by ticks that overlap or die', async () => {
    const others = await Promise.all([workspace('pro_hosted'), workspace('pro_hosted')]);
    await tick();
    for (const customerId of [acme, ...others]) await pass('10 minutes 5 seconds', customerId);
    const dying = service.runtime.db.transaction(async () => {
      expect(await tick()).toBeGreaterThanOrEqual(3);
      throw new Error('killed');
    });
    await expect(dying).rejects.toThrow('killed');
    expect(await minutesOf(acme)).toBe(0);
    await Promise.all(Array.from({ length: 6 }, tick));
    for (const customerId of [acme, ...others]) expect(await minutesOf(customerId)).toBe(10);
    await pass('5 minutes');
    await Promise.all(Array.from({ length: 6 }, () => service.services.metering.charge(1)));
    await tick();
    for (const customerId of others) expect(await minutesOf(customerId)).toBe(10);
    expect(await minutesOf(acme)).toBe(15);
  });
});

describe('nobody is charged', () => {
  // Guards: only plans with managed infrastructure are charged, and only while it exists.
  test.each(['internal', 'free', 'starter_byo', 'pro_byo', 'scale'] as const)('on the plan %s', async (plan) => {
    const customerId = await workspace(plan);
    await pass('90 seconds', customerId);
    await tick();
    expect(await chargesOf(customerId)).toEqual([]);
  });

  // Guards: a plan that becomes a hosted one, or billing that goes live, does not charge for the time before.
  test('for the time before', async () => {
    await pass('40 days');
    await tick();
    await pass('1 minute');
    await tick();
    expect(await minutesOf(acme)).toBe(1);
    // Nor is the time charged in which it was something else.
    await run(sql`update workspaces set plan = 'starter_byo' where customer_id = ${acme}`);
    await tick();
    await pass('2 days');
    await run(sql`update workspaces set plan = 'starter_hosted' where customer_id = ${acme}`);
    await tick();
    expect(await minutesOf(acme)).toBe(1);
    await service.services.metering.forget();
    await pass('2 days');
    await tick();
    expect(await minutesOf(acme)).toBe(1);
  });

  // Guards: archived and failed workspaces are not charged.
  test.each(['failed', 'archived'])('once it is %s', async (status) => {
    await tick();
    await pass('1 minute');
    await run(sql`
      update workspaces set status = ${status}::workspace_status,
        archived_at = case when ${status} = 'archived' then now() end where customer_id = ${acme}`);
    await tick();
    expect(await chargesOf(acme)).toEqual([]);
  });
});

// Guards: housekeeping of a live deployment charges, and nothing is left to charge once it is not live.
test('the minutes that housekeeping charges', async () => {
  await tick();
  await pass('61 seconds');
  const live = await service.startWorker();
  await eventually(async () => expect(await minutesOf(acme)).toBe(1));
  await live.close();

  const { config } = service.runtime;
  service.runtime.config = { ...config, BILLING_MODE: 'internal_noop' };
  const other = await service.startWorker();
  const handle = service.runtime.temporal.client.workflow.getHandle(housekeeperId(config));
  await eventually(async () => {
    const { events } = await handle.fetchHistory();
    const signals = present(events).flatMap((event) => event.workflowExecutionSignaledEventAttributes ?? []);
    const [payload] = present(signals.at(-1)?.input?.payloads);
    expect(defaultPayloadConverter.fromPayload(present(payload))).toMatchObject({ isMetered: false });
  });
  await other.close();
  expect(await run(sql`select 1 from workspaces where infra_charged_until is not null`)).toEqual([]);
});
