/** Owners are told of an hour that costs several times what one usually does. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { createSpendingNoticeStore } from '../../../src/resources/cost/notices/store.ts';
import { mails } from '../../support/service/otp.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';
import { addMember } from '../sign-in/people.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ worker: false });
});
afterAll(() => service.close());

const rows = <Row>(statement: ReturnType<typeof sql>) => service.runtime.db.rows<Row>(statement);
const tell = () => service.services.tellPauses(AbortSignal.timeout(30_000));

/** A workspace that has spent so much in each of the last hours, the newest last; -1: the hour had no run. */
async function spent(
  name: string,
  ...hours: number[]
): Promise<{ inbox: () => Promise<unknown[]>; told: () => Promise<unknown[]>; mailed: () => string[] }> {
  const tenant = await service.tenant(`acc_surge_${name}`);
  const { customerId } = tenant.caller;
  const owner = `owner-of-${name}@surge.example`;
  await addMember(service, customerId, owner, 'owner');
  for (const [i, usd] of hours.entries()) {
    if (usd < 0) continue;
    await rows(sql`
      insert into runs (id, customer_id, agent, transport, prompt, status, cost_usd, completed_at, created_at)
      values (${`${name}-${i}`}, ${customerId}, 'w', 'rest', 'W', 'succeeded', ${usd}, now(),
        date_trunc('hour', now()) + interval '1 minute' - make_interval(hours => ${hours.length - 1 - i}))`);
  }
  // The newest is in the last hour whenever the test runs.
  await rows(sql`update runs set created_at = now() where id = ${`${name}-${hours.length - 1}`}`);
  return {
    inbox: async () => (await tenant.cp('GET', '/v1/inbox')).body.meta.spending,
    told: () =>
      rows(sql`
        select topic, trim_scale(spent_usd)::text as spent, trim_scale(limit_usd)::text as usual, run_id as run
        from spending_notices where customer_id = ${customerId}`),
    mailed: () => mails().flatMap(({ to, subject }) => (String(to).includes(owner) ? [subject] : [])),
  };
}

const day = (usd: number) => Array.from({ length: 26 }, () => usd);

// Guards: what is unusual is told once, to the owners and into the log; what is as always, what is little, and what is the
// first that a workspace spends, is not.
test('an hour that costs more than five times what is usual', async () => {
  const [loud, usual, little, young, idle] = await Promise.all([
    spent('loud', ...day(0.5), -1, -1, 3),
    spent('usual', ...day(0.5), -1, -1, 2.4),
    spent('little', ...day(0.01), -1, -1, 0.9),
    spent('young', 0.1, 0.1, -1, 90),
    // Hours without a cost say nothing of those that have one.
    spent('idle', ...day(0.5), ...Array.from({ length: 48 }, () => 0), -1, -1, 2.4),
  ]);
  // A process looks at its first tick, and not at each one after it; another process may look at the same time.
  const { noteSurges } = createSpendingNoticeStore(service.runtime.db);
  await Promise.all([tell(), noteSurges()]);
  await noteSurges();
  await tell();
  expect(await loud.told()).toEqual([{ topic: 'surge', spent: '3', usual: '0.5', run: 'loud-28' }]);
  expect(loud.mailed()).toEqual(['An hour cost 3.00 USD, where 0.50 is usual']);
  // Told in the inbox too, of which nothing waits.
  expect(await loud.inbox()).toEqual([
    expect.objectContaining({ topic: 'surge', title: 'An hour cost 3.00 USD, where 0.50 is usual', run_id: 'loud-28' }),
  ]);
  expect(await usual.inbox()).toEqual([]);
  for (const other of [usual, little, young, idle]) expect(await other.told()).toEqual([]);
  expect(await rows(sql`select topic, payload from log_events where kind = 'spending'`)).toEqual([
    { topic: 'surge', payload: { spent_usd: '3', usual_usd: '0.5' } },
  ]);
});
