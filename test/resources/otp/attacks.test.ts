/** Somebody with a session and without the codes: who guesses, who floods a mailbox, who is in the way of others. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { itemAt } from '../../../src/platform/core/present.ts';
import { holderOf } from '../../../src/resources/otp/model.ts';
import { codeOf, demandIn, otpHeaders } from '../../support/service/otp.ts';
import type { Answer } from '../../support/service/service.ts';
import { tried } from '../../support/runner/sizes.ts';
import { startGated, type Put } from './gated-service.ts';

const MAILS = 30;

let service: Awaited<ReturnType<typeof startGated>>;
let withLimit: Awaited<ReturnType<typeof startGated>>;
let tenants = 0;
beforeAll(async () => {
  service = await startGated();
  withLimit = await startGated({ mailsPerHour: MAILS, inbox: 'Admin@operator.example' });
});
afterAll(() => Promise.all([service?.close(), withLimit?.close()]));

const newWorkspace = async (of = service) => {
  const customerId = `attacked-${++tenants}`;
  return { customerId, ...(await of.tenant(`acc_${customerId}`)) };
};
const times = <T>(n: number, make: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: n }, (_, i) => make(i)));
const challenged = async (put: Put) => demandIn(await put('a', 'hello')).challenge_id;
const wrongFor = (id: string) => (codeOf(id) === '000000' ? '000001' : '000000');
const details = (answers: readonly Answer[], code: string) =>
  answers.filter(({ body }) => typeof body.detail === 'string' && body.detail.startsWith(code)).length;

/** How many guesses anybody has looked at. */
async function evaluated(customerId: string): Promise<number> {
  const row = itemAt(
    await service.db.rows<{ guesses: number }>(
      sql`select coalesce(sum(wrong_codes), 0)::int as guesses from otp_challenges where customer_id = ${customerId}`,
    ),
    0,
  );
  return row.guesses;
}
const openOf = async (customerId: string) =>
  (
    await service.db.rows<{ id: string }>(sql`
      select id from otp_challenges where customer_id = ${customerId} and used_at is null and expires_at > now()
      order by created_at`)
  ).map(({ id }) => id);

// Guards against: simultaneous guesses that each find the gate open. Of hundreds, over many challenges, no more count
// than the limit.
test('of 480 parallel guesses over 120 challenges a hundred are looked at', async () => {
  const { customerId, put } = await newWorkspace();
  const ids: string[] = [];
  for (let i = 0; i < 120; i++) ids.push(await challenged(put));
  // The limit on open ones is another one: here the count alone has to hold.
  await service.db.rows(
    sql`update otp_challenges set expires_at = now() + interval '10 minutes' where customer_id = ${customerId}`,
  );
  const answers = await times(480, (i) => {
    const id = itemAt(ids, i % ids.length);
    return put('a', 'hello', otpHeaders(id, wrongFor(id)));
  });
  tried('parallel guesses', answers.length);
  expect(await evaluated(customerId)).toBe(100);
  expect(details(answers, 'otp_locked')).toBe(380);
  // Nor does the right code help any more.
  const last = await put('a', 'hello', otpHeaders(itemAt(ids, 0)));
  expect(details([last], 'otp_locked')).toBe(1);
});

// Guards against: many open challenges at once with five guesses each. The older ones end, and those of others stay.
test('five challenges of a person are open at a time', async () => {
  const [mine, other] = [await newWorkspace(), await newWorkspace()];
  const others = await challenged(other.put);
  const first = await challenged(mine.put);
  const more = await times(50, () => mine.put('a', 'hello'));
  tried('challenges asked for at once', more.length);
  const open = await openOf(mine.customerId);
  expect(open).toHaveLength(5);
  expect(demandIn(await mine.put('a', 'hello', otpHeaders(first))).challenge_id).not.toBe(first);
  const newest = itemAt((await openOf(mine.customerId)).slice(-1), 0);
  expect((await mine.put('a', 'hello', otpHeaders(newest))).status).toBe(200);
  expect((await other.put('a', 'hello', otpHeaders(others))).status).toBe(200);
});

// Guards against: a person who stops another one of the same workspace, by wrong codes, open challenges or another's id.
test('nothing that one person does keeps another one from confirming', async () => {
  const mine = await newWorkspace();
  const { put: others } = mine.as('other@example.com');
  const open = await challenged(mine.put);
  const before = await challenged(others);
  for (let i = 0; i < 6; i++) await challenged(others);
  for (let wrong = 0; wrong < 110; wrong++) {
    const id = await openOf(mine.customerId).then((ids) => itemAt(ids.slice(-1), 0));
    await others('a', 'hello', otpHeaders(id, wrongFor(id)));
  }
  // A code is for the person who asked for it; what others guess at is not compared with it.
  expect((await others('a', 'hello', otpHeaders(open))).status).toBe(403);
  expect((await others('a', 'hello', otpHeaders(before))).status).toBe(403);
  expect(details([await others('a', 'hello')], 'otp_locked')).toBe(1);
  expect((await mine.put('a', 'hello', otpHeaders(open))).status).toBe(200);
});

// Guards against: a failing write that also rolls back the count of guesses.
test('what a write throws takes no guess back', async () => {
  const { customerId, put } = await newWorkspace();
  const guessed = await challenged(put);
  for (let i = 0; i < 3; i++) await put('a', 'hello', otpHeaders(guessed, wrongFor(guessed)));
  const failing = demandIn(await put('a', 'taken')).challenge_id;
  const answers = await Promise.all([
    put('a', 'taken', otpHeaders(failing)),
    put('a', 'hello', otpHeaders(guessed, wrongFor(guessed))),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([409, 403]);
  expect(await evaluated(customerId)).toBe(4);
  const [lock] = await service.db.rows(
    sql`select wrong_in_a_row from otp_holder_locks where customer_id = ${customerId}`,
  );
  expect(lock).toEqual({ wrong_in_a_row: 4 });
  // Where it could be taken back, nothing is looked at to begin with.
  const holder = holderOf('owner@example.com', undefined);
  const answer = { customerId, holder, id: guessed, operation: 'notes.set', scope: 'note.set:a', kept: [] };
  const within = service.db.transaction(() => service.store.answer(answer, async () => {}));
  await expect(within).rejects.toThrow('would be rolled back');
});

describe('mails of codes', () => {
  // Guards against: flooding a mailbox, also by simultaneous requests, with an answer that does not say why.
  test('are limited for a workspace and an inbox', async () => {
    const { put } = await newWorkspace(withLimit);
    const answers = await times(MAILS + 20, () => put('a', 'hello'));
    tried('codes asked for at once', answers.length);
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(MAILS + 20).fill(403));
    expect(details(answers, 'otp_mail_limit')).toBe(20);
    const refused = itemAt(
      answers.filter(({ body }) => typeof body.detail === 'string'),
      0,
    );
    expect(refused.body.detail).toMatch(/^otp_mail_limit: .* \d{4}-\d\d-\d\dT[\d:.]+Z$/);
    // An hour later there is room again.
    await withLimit.db.rows(sql`update otp_challenges set created_at = created_at - interval '1 hour'`);
    expect(demandIn(await put('a', 'hello'))).toBeDefined();
  });

  // Guards against: a person who uses up the mails of all others, whose codes go to the operator's inbox too.
  test('leave each person some of their own', async () => {
    await withLimit.db.rows(sql`delete from otp_challenges`);
    const mine = await newWorkspace(withLimit);
    const { put: others } = mine.as('other@example.com');
    expect(details(await times(MAILS + 5, () => others('a', 'hello')), 'otp_mail_limit')).toBe(5);
    const id = await challenged(mine.put);
    expect((await mine.put('a', 'hello', otpHeaders(id))).status).toBe(200);
    expect(details(await times(5, () => mine.put('a', 'hello')), 'otp_mail_limit')).toBe(3);
  });

  // Guards against: a workspace that keeps others, which share the operator's inbox, from confirming.
  test('leave each workspace its own, whoever floods the inbox', async () => {
    await withLimit.db.rows(sql`delete from otp_challenges`);
    for (let i = 0; i < 5; i++) {
      const { put } = await newWorkspace(withLimit);
      expect(details(await times(MAILS, () => put('a', 'hello')), 'otp_mail_limit')).toBe(0);
    }
    const { put } = await newWorkspace(withLimit);
    const id = await challenged(put);
    expect((await put('a', 'hello', otpHeaders(id))).status).toBe(200);
    expect(details(await times(10, () => put('a', 'hello')), 'otp_mail_limit')).toBe(8);
  });
});
