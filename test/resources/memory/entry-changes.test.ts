/** Entries of the memory over HTTP: changed, verified, deleted, and counted. */
import { describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { first } from '../../../src/platform/core/present.ts';
import { confirmed, demandIn, otpHeaders } from '../../support/service/otp.ts';
import { ENTRIES, UNKNOWN, created, other, patch, read, refused, service, tenant, useMemory } from './over-http.ts';

useMemory();

describe('memory.update', () => {
  // Guards: nothing changes without a code, and a code allows exactly one change.
  test('is done with a code', async () => {
    const entry = await created();
    const path = `${ENTRIES}/${entry.id}`;
    const asked = await tenant.cp('PATCH', path, { description: 'hours' });
    expect(demandIn(asked)).toMatchObject({ otp_required: true, scope: `memory.update:${entry.id}` });
    expect(await read(entry.id)).toEqual(entry);
    const headers = otpHeaders(demandIn(asked).challenge_id);
    expect(await tenant.cp('PATCH', path, { description: 'other' }, headers)).toMatchObject({ status: 403 });
    const { status, body } = await tenant.cp('PATCH', path, { description: 'hours' }, headers);
    expect(status).toBe(200);
    expect(body).toEqual({ ...entry, description: 'hours', updated_at: expect.any(String) });
    expect(Date.parse(body.updated_at)).toBeGreaterThan(Date.parse(entry.updated_at));
  });

  // Guards: each field can be changed alone, and null removes an optional one.
  test('changes what is sent', async () => {
    const { id } = await created({ description: 'x', meta: { a: 1 } });
    const change = { content: 'Closed.', scope: 'personal', always_load: true };
    expect(await patch(id, change)).toMatchObject({
      status: 200,
      body: { ...change, description: 'x', meta: { a: 1 } },
    });
    expect((await patch(id, { description: null, meta: null })).body).toMatchObject({ description: null, meta: null });
    expect(await read(id)).toMatchObject({
      ...change,
      description: null,
      meta: null,
      type: 'note',
      has_embedding: true,
    });
  });

  // Guards: a search uses the old content until the entry is embedded again.
  test('embeds again only when asked', async () => {
    const vector = async () => {
      const row = first(
        await service.runtime.db.rows<{ v: string }>(
          sql`select embedding::text as v from memory_entries where id = ${id}`,
        ),
      );
      return row.v;
    };
    const { id } = await created({ content: 'Sourdough bread.' });
    const before = await vector();
    await patch(id, { content: 'Motor oil.' });
    expect(await vector()).toBe(before);
    await patch(id, { re_embed: true });
    const after = await vector();
    expect(after).not.toBe(before);
    const fresh = await created({ content: 'Motor oil.' });
    const row = first(
      await service.runtime.db.rows<{ v: string }>(
        sql`select embedding::text as v from memory_entries where id = ${fresh.id}`,
      ),
    );
    expect(after).toBe(row.v);
  });

  // Guards: an entry can be archived and restored, but no caller can make it superseded or revive a superseded one.
  test('moves between active and archived', async () => {
    const { id } = await created();
    expect((await patch(id, { status: 'archived' })).body.status).toBe('archived');
    expect((await patch(id, { status: 'archived' })).body.status).toBe('archived');
    expect((await patch(id, { status: 'active' })).body.status).toBe('active');
    expect(await patch(id, { status: 'superseded' })).toMatchObject(refused('status must be active or archived'));
    await tenant.cp('POST', `${ENTRIES}/${id}/supersede`, { content: 'New.' });
    expect(await patch(id, { status: 'active' })).toMatchObject(refused('status: a superseded entry stays superseded'));
    expect(await patch(id, { meta: { why: 'old' } })).toMatchObject({ status: 200, body: { status: 'superseded' } });
  });

  // Guards: an impossible change is refused before anybody is asked for a code.
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['an empty change', {}],
    ['fields that do not change', { slug: 'new', type: 'x' }],
    ['re_embed false alone', { re_embed: false }],
    ['blank content', { content: ' ' }],
    ['null content', { content: null }],
    ['a blank scope', { scope: '' }],
    ['an unknown status', { status: 'gone' }],
    ['re_embed that is no boolean', { re_embed: 'true' }],
    ['a text', 'active'],
    ['null', null],
  ])('refuses %s', async (_, body) => {
    const { id } = await created();
    expect(await tenant.cp('PATCH', `${ENTRIES}/${id}`, body)).toMatchObject(refused(expect.any(String)));
    expect(await tenant.cp('PATCH', `${ENTRIES}/${UNKNOWN}`, { scope: 'x' })).toMatchObject(refused('not_found', 404));
  });

  // Guards: the body and scope of a skill change at the endpoints of skills; its status changes here.
  test('leaves skills to their own address', async () => {
    const [{ id }] = (await service.runtime.db.rows<{ id: number }>(sql`
      insert into memory_entries (customer_id, type, slug, name, content)
      values ('memory', 'skill', 'kneading', 'Kneading', 'Knead.') returning id`)) as [{ id: number }];
    const elsewhere = refused('this is a skill: change it with PATCH /v1/skills/kneading');
    expect(await patch(id, { content: 'Rest.' })).toMatchObject(elsewhere);
    expect(await patch(id, { scope: 'personal' })).toMatchObject(elsewhere);
    expect(await tenant.cp('POST', `${ENTRIES}/${id}/supersede`, { content: 'Rest.' })).toMatchObject(elsewhere);
    expect(await patch(id, { status: 'archived' })).toMatchObject({ status: 200, body: { status: 'archived' } });
  });
});

describe('memory.delete', () => {
  // Guards: an entry is deleted for good, and only with a code.
  test('is done with a code', async () => {
    const { id } = await created({ slug: 'to-go' });
    const asked = await tenant.cp('DELETE', `${ENTRIES}/${id}`);
    expect(demandIn(asked).scope).toBe(`memory.delete:${id}`);
    expect(await read(id)).toMatchObject({ id });
    const headers = otpHeaders(demandIn(asked).challenge_id);
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => tenant.cp('DELETE', `${ENTRIES}/${id}`, undefined, headers)),
    );
    // A used challenge is none, an entry that has gone is unknown: whichever the others come upon first.
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
    expect(answers.filter(({ status }) => [403, 404].includes(status))).toHaveLength(3);
    expect(await tenant.cp('GET', `${ENTRIES}/${id}`)).toMatchObject(refused('not_found', 404));
    await created({ slug: 'to-go' });
  });
});

describe('memory.bulkDelete', () => {
  const bulk = (body: unknown, by = tenant) => confirmed(by, 'POST', `${ENTRIES}/bulk-delete`, body);

  // Guards: one code confirms the deletion of a whole set, which is identified by its ids in any order.
  test('deletes a set', async () => {
    const ids = [(await created()).id, (await created()).id, (await created()).id];
    const scopeOf = async (sent: number[]) =>
      demandIn(await tenant.cp('POST', `${ENTRIES}/bulk-delete`, { ids: sent })).scope;
    const scope = await scopeOf(ids);
    expect(scope).toMatch(/^memory\.bulk_delete:3:[0-9a-f]{16}$/);
    expect(await scopeOf([...ids].reverse())).toBe(scope);
    expect(await scopeOf([...ids, first(ids)])).toBe(scope);
    expect(await scopeOf(ids.slice(1))).not.toBe(scope);
    expect(await bulk({ ids: [...ids, ids[0]] })).toMatchObject({ status: 200, body: { deleted: 3 } });
    for (const id of ids) expect(await tenant.cp('GET', `${ENTRIES}/${id}`)).toMatchObject({ status: 404 });
  });

  // Guards: where one id is unknown or another workspace's, nothing is deleted, and both cases have the same answer.
  test('deletes all or none', async () => {
    const { id } = await created();
    const { id: foreign } = await created({}, other);
    for (const unknown of [foreign, UNKNOWN, 2_147_483_648, -1, 0]) {
      expect(await bulk({ ids: [id, unknown] })).toMatchObject(refused('not_found', 404));
    }
    expect(await read(id)).toMatchObject({ id });
    expect(await read(foreign, other)).toMatchObject({ id: foreign });
  });

  // Guards: where an entry is deleted between the demand and its answer, the whole deletion is refused.
  test('finds out what has gone meanwhile', async () => {
    const ids = [(await created()).id, (await created()).id];
    const asked = demandIn(await tenant.cp('POST', `${ENTRIES}/bulk-delete`, { ids }));
    await confirmed(tenant, 'DELETE', `${ENTRIES}/${ids[1]}`);
    const answer = await tenant.cp('POST', `${ENTRIES}/bulk-delete`, { ids }, otpHeaders(asked.challenge_id));
    expect(answer).toMatchObject(refused('not_found', 404));
    expect(await read(first(ids))).toMatchObject({ id: ids[0] });
  });

  // Guards: any body but a non-empty list of whole numbers is a 400.
  test.each([
    undefined,
    {},
    { ids: [] },
    { ids: 5 },
    { ids: ['1'] },
    { ids: [1.5] },
    { ids: [null] },
    { ids: [2 ** 53] },
    [],
  ])('refuses %j', async (body) => {
    expect(await tenant.cp('POST', `${ENTRIES}/bulk-delete`, body)).toMatchObject(
      refused(expect.stringContaining('ids must be a non-empty list of whole numbers')),
    );
  });
});

describe('memory.verify', () => {
  // Guards: marking as reviewed sets the time and nothing else, without a code.
  test('stamps the time', async () => {
    const entry = await created();
    const { status, body } = await tenant.cp('POST', `${ENTRIES}/${entry.id}/verify`);
    expect(status).toBe(200);
    expect(body).toEqual({ last_verified_at: expect.stringMatching(/Z$/) });
    expect(await read(entry.id)).toEqual({ ...entry, ...body });
  });
});

describe('memory.stats', () => {
  // Guards: entries of one's own workspace are counted by agent, type and scope, the largest group first.
  test('counts', async () => {
    const counter = await service.tenant('acc_memory_stats');
    expect((await counter.cp('GET', '/v1/memory/stats')).body).toEqual({
      total: 0,
      unreadable: 0,
      by_agent: [],
      by_type: [],
      by_scope: [],
    });
    await created({ agent: 'writer', type: 'fact' }, counter);
    await created({ agent: 'writer' }, counter);
    await created({ scope: 'personal' }, counter);
    await created({ agent: 'editor', type: 'a' }, counter);
    await created({ agent: 'writer' }, counter);
    expect((await counter.cp('GET', '/v1/memory/stats')).body).toEqual({
      total: 5,
      unreadable: 0,
      by_agent: [
        { key: 'writer', count: 3 },
        { key: '', count: 1 },
        { key: 'editor', count: 1 },
      ],
      by_type: [
        { key: 'note', count: 3 },
        { key: 'a', count: 1 },
        { key: 'fact', count: 1 },
      ],
      by_scope: [
        { key: 'shared', count: 4 },
        { key: 'personal', count: 1 },
      ],
    });
  });
});
