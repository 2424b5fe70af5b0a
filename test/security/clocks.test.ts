/** Processes whose clocks differ by an hour, on one database: what ends, ends by the clock of the database. */
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { loadConfig } from '../../src/platform/core/config.ts';
import { present } from '../../src/platform/core/present.ts';
import { createOtpStore } from '../../src/resources/otp/store.ts';
import { createRetention } from '../../src/resources/retention/service.ts';
import { createRetentionStore } from '../../src/resources/retention/store.ts';
import { createSignInStore } from '../../src/resources/sign-in/store.ts';
import { gateStep, makeTemplate, phaseSpec, startProject } from '../support/fixtures/projects.ts';
import {
  eventually,
  startTestService,
  TEST_SECRETS,
  type Tenant,
  type TestService,
} from '../support/service/service.ts';

const HOUR_MS = 3_600_000;

let service: TestService;
let tenant: Tenant;
beforeAll(async () => {
  service = await startTestService();
  tenant = await service.tenant('acc_clocks');
});
afterEach(() => void jest.useRealTimers());
afterAll(() => service.close());

/** Of this process, from now on; timers go as ever. */
const shiftClock = (ms: number): void =>
  void jest.useFakeTimers({
    advanceTimers: true,
    now: Date.now() + ms,
    doNotFake: [
      ...(['hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'clearImmediate'] as const),
      ...(['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] as const),
    ],
  });

describe.each([
  ['ahead', HOUR_MS],
  ['behind', -HOUR_MS],
])('a clock an hour %s', (name, ms) => {
  // Guards against: codes that never work because the process that checks them has another clock than the one that made
  // them.
  test.each([
    ['where it is asked for', ms, 0],
    ['where it is given', 0, ms],
  ])('a code, %s', async (where, asking, answering) => {
    const { customerId } = tenant.caller;
    const store = createOtpStore(service.runtime.db);
    const id = `${name} ${where}`;
    const what = { customerId, holder: 'person:a', operation: 'o', scope: 's' };
    shiftClock(asking);
    const opening = await store.open({ ...what, id, bodyHash: 'b', codeHmac: 'c', recipient: `${name}@a.b` }, 10);
    expect(opening.kind).toBe('opened');
    jest.useRealTimers();
    shiftClock(answering);
    const answer = { ...what, id, kept: [{ bodyHash: 'b', codeHmac: 'c' }] };
    expect(await store.answer(answer, async () => 'done')).toEqual({ kind: 'right', value: 'done' });
  });

  // Guards against: the same for codes of sign-in, and codes that stay valid an hour longer than ten minutes.
  test('a code of sign-in', async () => {
    const store = createSignInStore(service.runtime.db);
    const made = { email: `${name}@sign.in`, codeHmac: 'c', known: false };
    const answer = (id: string) => store.answer({ id, codeHmacs: ['c'] });
    shiftClock(ms);
    await store.insertChallenge({ ...made, id: `${name} made` });
    jest.useRealTimers();
    expect(await answer(`${name} made`)).toBe(made.email);
    for (const id of [`${name} good`, `${name} old`]) await store.insertChallenge({ ...made, id });
    await service.runtime.db.rows(
      sql`update login_challenges set expires_at = now() - interval '1 second' where id = ${`${name} old`}`,
    );
    shiftClock(ms);
    expect(await answer(`${name} good`)).toBe(made.email);
    expect(await answer(`${name} old`)).toBeUndefined();
  });

  // Guards: a receiver whose secret of before is out of force at once, or for an hour less or more than the day that it was promised.
  test('a signing secret that was replaced', async () => {
    const { body } = await tenant.api('POST', '/v1/webhooks', { url: 'https://receiver.example/' });
    shiftClock(ms);
    const rotate = () => service.services.webhooks.rotateSecret(tenant.caller, body.id);
    await rotate();
    const [row] = await service.runtime.db.rows<{ hours: number }>(sql`
      select extract(epoch from previous_secret_until - now())::float8 / 3600 as hours from webhook_subscriptions
      where id = ${body.id}`);
    expect(present(row).hours).toBeCloseTo(24, 0);
    const ending = (interval: string) =>
      service.runtime.db.rows(sql`
        update webhook_subscriptions set previous_secret_until = now() + ${interval}::interval where id = ${body.id}`);
    await ending('10 minutes');
    await expect(rotate()).rejects.toMatchObject({ code: 'rotation_under_way' });
    await ending('-1 second');
    await rotate();
  });

  // Guards: rows that are deleted before their time.
  test('what is deleted when it is old', async () => {
    const { customerId } = tenant.caller;
    await service.runtime.db.rows(sql`
      insert into audit_log (customer_id, actor, action, target, change, created_at)
      select ${customerId}, 'somebody', ${name} || n, '{}', '{}', now() - n * interval '1 minute' from unnest(array[30, 90]) n`);
    shiftClock(ms);
    await createRetention({
      store: createRetentionStore(service.runtime.db),
      settings: loadConfig({ ...TEST_SECRETS, DATABASE_URL: 'postgres://unused', RETENTION_AUDIT: '1h' }),
      log: service.runtime.log,
    }).sweep(new AbortController().signal);
    const left = await service.runtime.db.rows(sql`
      select action from audit_log where customer_id = ${customerId} and action like ${`${name}%`}`);
    expect(left).toEqual([{ action: `${name}30` }]);
  });

  // Guards: a time gate that a worker with another clock opens waits the right time.
  test('a gate that waits', async () => {
    const slug = `waits-${name}`;
    await makeTemplate(tenant, slug, [phaseSpec('only', [gateStep('gate', 'schedule', { delay_s: 600 })])]);
    const id = await startProject(tenant, slug);
    shiftClock(ms);
    const remaining = await eventually(async () => {
      const [row] = await service.runtime.db.rows<{ s: number }>(sql`
        select extract(epoch from (payload ->> 'until')::timestamptz - ts)::float8 as s from project_events
        where project_id = ${id} and topic = 'gate_awaiting'`);
      expect(row).toBeDefined();
      return row!.s;
    });
    expect(Math.abs(remaining - 600)).toBeLessThan(60);
  });
});
