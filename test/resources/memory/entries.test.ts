/** Entries of the memory over HTTP, on a real database and with the packaged embedder: made, listed and read. */
import { describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { present } from '../../../src/platform/core/present.ts';
import {
  ENTRIES,
  UNKNOWN,
  create,
  created,
  other,
  patch,
  read,
  refused,
  service,
  tenant,
  useMemory,
} from './over-http.ts';

useMemory();

describe('memory.create', () => {
  // Guards: the shape of an entry, and the defaults of fields that are left out.
  test('answers with the whole entry, embedded', async () => {
    const { status, body } = await create({});
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(Number),
      type: 'note',
      slug: null,
      name: null,
      description: null,
      content: 'The bakery opens at six.',
      agent: null,
      scope: 'shared',
      source_attribution: null,
      status: 'active',
      always_load: false,
      last_verified_at: null,
      meta: null,
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      updated_at: body.created_at,
      has_embedding: true,
      hit_count: 0,
      impression_count: 0,
      hit_rate: 0,
      last_hit_at: null,
    });
    expect(await tenant.cp('GET', `${ENTRIES}/${body.id}`)).toMatchObject({ status: 200, body });
  });

  // Guards: every given field is kept; a blank agent counts as none.
  test('keeps what it is given', async () => {
    const given = {
      type: 'fact',
      slug: 'opening-hours',
      name: 'Hours',
      description: 'When',
      agent: 'writer',
      scope: 'personal',
      source_attribution: 'the door',
      always_load: true,
      meta: { seen: [1, { deep: true }] },
    };
    expect(await created(given)).toMatchObject(given);
    expect(await created({ agent: ' ', name: '' })).toMatchObject({ agent: null, name: null });
  });

  // Guards: bad input is 400 with one sentence, never 422 and never a 500.
  test.each<[string, unknown, string]>([
    ['no body', undefined, 'content required'],
    ['a list', [], 'content required'],
    ['no content', { type: 'note' }, 'content required'],
    ['blank content', { type: 'note', content: ' \n' }, 'content required'],
    ['content of another type', { type: 'note', content: 5 }, 'content required'],
    ['no type', { content: 'x' }, 'type required'],
    ['blank type', { content: 'x', type: ' ' }, 'type required'],
    ['a skill', { content: 'x', type: 'skill' }, 'type: skills are made with POST /v1/skills'],
    ['a slug with spaces', { content: 'x', type: 'note', slug: 'a b' }, 'slug: must be letters'],
    ['a slug that ends a link', { content: 'x', type: 'note', slug: 'a]]' }, 'slug: must be letters'],
    ['a NUL', { content: 'a\u0000b', type: 'note' }, 'content: must not contain a NUL character'],
    ['half a character', { content: 'x', type: 'note', meta: { a: '\ud800' } }, 'meta.a: must be well-formed Unicode'],
    ['meta that is no object', { content: 'x', type: 'note', meta: [1] }, 'meta: '],
    ['always_load that is no boolean', { content: 'x', type: 'note', always_load: 'yes' }, 'always_load: '],
    ['too much content', { content: 'x'.repeat(100_001), type: 'note' }, 'content too long (max 100000 characters)'],
  ])('refuses %s', async (_, body, detail) => {
    expect(await tenant.cp('POST', ENTRIES, body)).toMatchObject(refused(expect.stringContaining(detail)));
  });

  // Guards: names such as `constructor` are names like any other.
  test('keeps odd names', async () => {
    const body = JSON.parse('{"slug": "constructor", "meta": {"constructor": 1, "toString": {"valueOf": null}}}');
    expect(await created(body)).toMatchObject({ slug: 'constructor', meta: body.meta });
  });

  // Guards: a slug names one entry of a workspace and no built-in skill, and says nothing of other workspaces.
  test('gives a slug once', async () => {
    await created({ slug: 'taken' });
    expect(await create({ slug: 'taken' })).toMatchObject(refused('slug_taken', 409));
    expect(await create({ slug: 'writing-style' })).toMatchObject(refused('slug_taken', 409));
    await created({ slug: 'taken' }, other);
    const answers = await Promise.all(Array.from({ length: 8 }, () => create({ slug: 'raced' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(7).fill(409)]);
  });
});

describe('the plan', () => {
  // Guards: the cap holds for simultaneous creates, counts no skills, and leaves a superseded entry counted.
  test('caps entries', async () => {
    const free = await service.tenant('acc_memory_free', 'free');
    await service.runtime.db.rows(sql`
      insert into memory_entries (customer_id, type, slug, name, content)
      select ${free.caller.customerId}, case when n <= 20 then 'skill' else 'note' end, 's' || n, 'n', 'filled' from generate_series(1, 1017) n`);
    const answers = await Promise.all(Array.from({ length: 6 }, () => create({}, free)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 403, 403, 403]);
    const limit = {
      code: 'plan_limit_exceeded',
      resource: 'cold_memory_entries',
      current: 1000,
      limit: 1000,
      tier: 'free',
    };
    expect(present(answers.find(({ status }) => status === 403)).body).toEqual({ detail: limit });
    const { id } = present(answers.find(({ status }) => status === 201)).body;
    expect(await free.cp('POST', `${ENTRIES}/${id}/supersede`, { content: 'New.' })).toMatchObject(refused(limit, 403));
    expect(await read(id, free)).toMatchObject({ status: 'active' });
  });
});

describe('memory.list', () => {
  // Guards: entries are listed newest first with previews instead of contents; filters combine, and the total counts
  // the matches.
  test('shows the newest first', async () => {
    const lister = await service.tenant('acc_memory_list');
    const long = `${'é'.repeat(239)}🍞 and more`;
    const first = await created({ content: long, agent: 'writer', type: 'fact' }, lister);
    const second = await created({ agent: 'writer', scope: 'personal' }, lister);
    const third = await created({}, lister);
    const list = async (query = '') => (await lister.cp('GET', `${ENTRIES}${query}`)).body;
    const all = await list();
    expect(all.data.map(({ id }: { id: number }) => id)).toEqual([third.id, second.id, first.id]);
    expect(all.meta).toEqual({ limit: 50, search: false, total: 3 });
    const { content: _, hit_count, hit_rate, impression_count, last_hit_at, ...shown } = first;
    expect({ hit_count, hit_rate, impression_count, last_hit_at }).toBeDefined();
    expect(all.data[2]).toEqual({ ...shown, preview: `${'é'.repeat(239)}🍞`, score: null });

    expect((await list('?limit=1')).meta).toEqual({ limit: 1, search: false, total: 3 });
    expect((await list('?limit=1')).data).toHaveLength(1);
    expect((await list('?agent=writer')).meta.total).toBe(2);
    expect((await list('?agent=writer&type=fact')).data).toMatchObject([{ id: first.id }]);
    expect((await list('?scope=personal&agent=&q=')).data).toMatchObject([{ id: second.id }]);
    expect(await list('?agent=nobody')).toEqual({ data: [], meta: { limit: 50, search: false, total: 0 } });
  });

  // Guards: a search orders entries by meaning, with their similarity, and finds entries of every status.
  test('finds by meaning', async () => {
    const asker = await service.tenant('acc_memory_search');
    const bread = await created({ content: 'Sourdough bread needs flour, water and salt.', agent: 'baker' }, asker);
    const car = await created({ content: 'The engine of the car was repaired by a mechanic.' }, asker);
    await patch(bread.id, { status: 'archived' }, asker);
    const { status, body } = await asker.cp('GET', `${ENTRIES}?q=${encodeURIComponent('how do I bake a loaf?')}`);
    expect(status).toBe(200);
    expect(body.meta).toEqual({ limit: 50, search: true, by: 'meaning' });
    expect(body.data.map(({ id }: { id: number }) => id)).toEqual([bread.id, car.id]);
    expect(body.data[0]).toMatchObject({ status: 'archived', preview: bread.content });
    expect(body.data[0].score).toBeGreaterThan(body.data[1].score);
    expect(body.data[0].score).toBeLessThan(1);
    const one = await asker.cp('GET', `${ENTRIES}?q=bread&agent=baker&limit=1`);
    expect(one.body).toMatchObject({ data: [{ id: bread.id }], meta: { limit: 1, search: true } });
  });

  // Guards: a bad query is a 400 here.
  test.each(['limit=0', 'limit=201', 'limit=x', 'limit=1&limit=2', 'q=a%00b', `type=${'x'.repeat(101)}`, 'q=a&q=b'])(
    'refuses ?%s',
    async (query) => {
      expect(await tenant.cp('GET', `${ENTRIES}?${query}`)).toMatchObject(refused(expect.any(String)));
    },
  );
});

describe('memory.get', () => {
  // Guards: an unknown id is a 404 whatever its form, and no number is too large for the database.
  test.each([
    [UNKNOWN, 404],
    [0, 404],
    ['-1', 400],
    ['x', 400],
    ['1e3', 400],
    ['9'.repeat(40), 400],
  ])('of %s answers %i', async (id, status) => {
    expect(await tenant.cp('GET', `${ENTRIES}/${id}`)).toMatchObject({ status });
    expect(await tenant.cp('POST', `${ENTRIES}/${id}/verify`)).toMatchObject({ status });
    expect(await tenant.cp('DELETE', `${ENTRIES}/${id}`)).toMatchObject({ status });
  });

  // Guards: the rate is computed from the counts as they are.
  test('tells how often it was recalled', async () => {
    const { id } = await created();
    await service.runtime.db.rows(
      sql`update memory_entries set impression_count = 8, hit_count = 2, last_hit_at = now() where id = ${id}`,
    );
    expect(await read(id)).toMatchObject({ impression_count: 8, hit_count: 2, hit_rate: 0.25 });
  });
});
