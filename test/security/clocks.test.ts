/** Processes whose clocks differ by an hour, on one database: what ends, ends by the clock of the database. */
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { createOtpStore } from '../../src/resources/otp/store.ts';
import { createSignInStore } from '../../src/resources/sign-in/store.ts';
import { gateStep, makeTemplate, phaseSpec, startProject } from '../support/fixtures/projects.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../support/service/service.ts';

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
  // Guards: codes that are good for nobody, as the process that is answered has another clock than the one that made them.
  test.each([
    ['where it is asked for', ms, 0],
    ['where it is given', 0, ms],
  ])('a code, %s', async (where, asking, answering) => {
    const { customerId } = tenant.caller;
    const store = createOtpStore(service.runtime.db);
    const id = `${name} ${where}`;
    const what = { customerId, operation: 'o', scope: 's' };
    shiftClock(asking);
    const opening = await store.open({ ...what, id, bodyHash: 'b', codeHmac: 'c', recipient: `${name}@a.b` }, 10);
    expect(opening.kind).toBe('opened');
    jest.useRealTimers();
    shiftClock(answering);
    const answer = { ...what, id, kept: [{ bodyHash: 'b', codeHmac: 'c' }] };
    expect(await store.answer(answer, async () => 'done')).toEqual({ kind: 'right', value: 'done' });
  });

  // Guards: the same of codes of sign-in, and codes that are good for an hour longer than ten minutes.
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

  // Guards: a gate that waits for a time and is opened by a worker with another clock.
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
