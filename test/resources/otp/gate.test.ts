import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { codeOf, demandIn, otpHeaders } from '../../support/service/otp.ts';
import { tried } from '../../support/runner/sizes.ts';
import { startGated, type Put } from './gated-service.ts';

let service: Awaited<ReturnType<typeof startGated>>;
let tenants = 0;
const newTenant = () => service.tenant(`acc_gated-${++tenants}`);
/** What a workspace that is locked out would otherwise share with the next test. */
const wrongFor = (id: string) => (codeOf(id) === '000000' ? '000001' : '000000');

beforeAll(async () => {
  service = await startGated();
});
beforeEach(() => service.db.rows(sql`delete from notes`));
afterAll(() => service.close());

const challenged = async (put: Put, slug = 'a', note = 'hello') => demandIn(await put(slug, note));

// Guards: the demand has its shape, nothing is written for it, and the code lets the same request through.
test('asks for a code, then lets the request through', async () => {
  const { put } = await newTenant();
  const first = await put('a', 'hello');
  expect(first.status).toBe(403);
  expect(first.body).toEqual({
    detail: {
      otp_required: true,
      challenge_id: expect.stringMatching(/^[\w-]{16}$/),
      scope: 'note.set:a',
      expires_at: expect.any(Number),
      delivery: expect.stringMatching(/^log:/),
    },
  });
  const { challenge_id: id, expires_at: expiresAt } = first.body.detail;
  expect(Math.abs(expiresAt - Date.now() / 1_000 - 600)).toBeLessThan(10);
  expect(await service.notes()).toEqual([]);
  expect(codeOf(id)).toMatch(/^\d{6}$/);

  expect(await put('a', 'hello', otpHeaders(id))).toMatchObject({ status: 200, body: { note: 'hello' } });
  expect(await service.notes()).toEqual(['hello']);
});

// Guards: the code itself is not in the database.
test('keeps an HMAC of the code only', async () => {
  const { put } = await newTenant();
  const { challenge_id: id } = await challenged(put);
  const [row] = await service.db.rows<Record<string, unknown>>(sql`select * from otp_challenges where id = ${id}`);
  expect(row).toMatchObject({ code_hmac: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(JSON.stringify({ ...row, expires_at: null, created_at: null })).not.toContain(codeOf(id));
});

// Guards: a challenge is single-use.
test('takes a code once', async () => {
  const { put } = await newTenant();
  const { challenge_id: id } = await challenged(put);
  await put('a', 'hello', otpHeaders(id));
  const again = await put('a', 'hello', otpHeaders(id));
  expect(demandIn(again).challenge_id).not.toBe(id);
  expect(await service.notes()).toEqual(['hello']);
});

// Guards: a person with two tabs can still use the code of the first.
test('takes the codes of two tabs, each for its own', async () => {
  const { put } = await newTenant();
  const [first, second] = [await challenged(put), await challenged(put)];
  const ofOther = otpHeaders(first.challenge_id, codeOf(second.challenge_id));
  // One in a million is the code of both.
  if (codeOf(first.challenge_id) !== codeOf(second.challenge_id))
    expect((await put('a', 'hello', ofOther)).status).toBe(403);
  expect((await put('a', 'hello', otpHeaders(first.challenge_id))).status).toBe(200);
  expect((await put('a', 'hello', otpHeaders(second.challenge_id))).status).toBe(200);
  expect(demandIn(await put('a', 'hello', otpHeaders(first.challenge_id))).challenge_id).not.toBe(first.challenge_id);
});

// Guards: of several simultaneous right answers one succeeds.
test('lets one of 50 parallel right answers through', async () => {
  const { put } = await newTenant();
  const { challenge_id: id } = await challenged(put);
  const answers = await Promise.all(Array.from({ length: 50 }, () => put('a', 'hello', otpHeaders(id))));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(49).fill(403)]);
  tried('parallel right answers', answers.length);
  expect(await service.notes()).toEqual(['hello']);
});

// Guards: a challenge confirms the request it was made for and no other, whatever the code.
test('is bound to workspace, operation, scope and body', async () => {
  const [mine, other] = [await newTenant(), await newTenant()];
  const { challenge_id: id } = await challenged(mine.put);
  for (const answer of [
    await other.put('a', 'hello', otpHeaders(id)),
    await mine.append('a', 'hello', otpHeaders(id)),
    await mine.put('b', 'hello', otpHeaders(id)),
    await mine.put('a', 'changed', otpHeaders(id)),
    await mine.put('a', 'hello', otpHeaders('nobodys-challeng', '000000')),
    await mine.put('a', 'hello', otpHeaders('no challenge at all', '000000')),
    await mine.put('a', 'hello', { 'x-service-otp-challenge': id }),
    await mine.put('a', 'hello', { 'x-service-otp-code': codeOf(id) }),
  ]) {
    expect(demandIn(answer).challenge_id).not.toBe(id);
    tried('codes of something else');
  }
  expect(await service.notes()).toEqual([]);
  // None of these has used or burned it; what they were answered with has pushed it out.
  await service.db.rows(sql`update otp_challenges set expires_at = now() + interval '1 minute' where id = ${id}`);
  expect((await mine.put('a', 'hello', otpHeaders(id))).status).toBe(200);
});

// Guards: a challenge lasts for ten minutes.
test('does not take an expired challenge', async () => {
  const { put } = await newTenant();
  const { challenge_id: id } = await challenged(put);
  await service.db.rows(sql`update otp_challenges set expires_at = now() - interval '1 ms' where id = ${id}`);
  expect(demandIn(await put('a', 'hello', otpHeaders(id))).challenge_id).not.toBe(id);
});

// Guards: four wrong codes leave a challenge as it is, the fifth burns it and brings another.
test('burns a challenge with the fifth wrong code', async () => {
  const { put } = await newTenant();
  const demand = await challenged(put);
  const { challenge_id: id } = demand;
  for (let wrong = 1; wrong <= 4; wrong++) {
    expect(demandIn(await put('a', 'hello', otpHeaders(id, wrongFor(id))))).toEqual(demand);
  }
  const { challenge_id: next } = demandIn(await put('a', 'hello', otpHeaders(id, wrongFor(id))));
  expect(next).not.toBe(id);
  expect((await put('a', 'hello', otpHeaders(id))).status).toBe(403);
  expect((await put('a', 'hello', otpHeaders(next))).status).toBe(200);
});

// Guards: simultaneous guesses are all counted, and no more than five are compared with one challenge's code.
test('counts parallel wrong codes', async () => {
  const { put } = await newTenant();
  const { challenge_id: id } = await challenged(put);
  await Promise.all(Array.from({ length: 20 }, () => put('a', 'hello', otpHeaders(id, wrongFor(id)))));
  const [row] = await service.db.rows(sql`select wrong_codes from otp_challenges where id = ${id}`);
  expect(row).toEqual({ wrong_codes: 5 });
});

// Guards: a refused write leaves the challenge usable, and nothing half written.
test('rolls the use back with the write', async () => {
  const { put } = await newTenant();
  const { challenge_id: id } = await challenged(put, 'a', 'taken');
  expect((await put('a', 'taken', otpHeaders(id))).status).toBe(409);
  expect(await service.notes()).toEqual([]);
  expect((await put('a', 'taken', otpHeaders(id))).status).toBe(409);
});

describe('a hundred wrong codes in a row', () => {
  const guess = async (put: Put, times: number) => {
    let { challenge_id: id } = await challenged(put);
    for (let wrong = 1; wrong <= times; wrong++) {
      const { body } = await put('a', 'hello', otpHeaders(id, wrongFor(id)));
      id = body.detail.challenge_id ?? id;
      tried('wrong codes');
    }
    return id;
  };

  // Guards: guessing over many challenges is stopped too, for the person who guesses and for no other workspace.
  test('lock the gate for whom guesses', async () => {
    const [mine, other] = [await newTenant(), await newTenant()];
    const id = await guess(mine.put, 100);
    for (const answer of [await mine.put('a', 'hello'), await mine.put('a', 'hello', otpHeaders(id))]) {
      expect(answer).toMatchObject({ status: 403, body: { detail: expect.stringMatching(/^otp_locked: .*Z$/) } });
    }
    const { challenge_id: others } = await challenged(other.put);
    expect((await other.put('a', 'hello', otpHeaders(others))).status).toBe(200);

    // Past the lock one guess is left, until a right code starts the count anew.
    await service.db.rows(sql`update otp_holder_locks set locked_until = now() where wrong_in_a_row >= 100`);
    await guess(mine.put, 1);
    expect((await mine.put('a', 'hello')).body.detail).toMatch(/^otp_locked/);
    await service.db.rows(sql`update otp_holder_locks set locked_until = now() where wrong_in_a_row >= 100`);
    const { challenge_id: last } = await challenged(mine.put);
    expect((await mine.put('a', 'hello', otpHeaders(last))).status).toBe(200);
    await guess(mine.put, 99);
    expect(demandIn(await mine.put('a', 'hello'))).toBeDefined();
  });

  // Guards: a person who mistypes now and then is never locked out.
  test('are only those since the last right one', async () => {
    const { put } = await newTenant();
    await guess(put, 99);
    const { challenge_id: id } = await challenged(put);
    expect((await put('a', 'hello', otpHeaders(id))).status).toBe(200);
    await guess(put, 1);
    expect(demandIn(await put('a', 'hello'))).toBeDefined();
  });
});
