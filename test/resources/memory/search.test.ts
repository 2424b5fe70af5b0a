/** Search among the entries of many workspaces. The vectors are short ones, so that tens of thousands are soon there. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { PACKAGED } from '../../../src/platform/models/embed-packaged.ts';
import type { Database } from '../../../src/platform/db/client.ts';
import { createMemoryStore, type MemoryStore } from '../../../src/resources/memory/store/index.ts';
import { openTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { makeWorkspace } from '../../support/fixtures/workspaces.ts';

const DIMENSIONS = 16;
const QUESTION = unit([1, ...new Array<number>(DIMENSIONS - 1).fill(0)]);

let database: TestDatabase;
let store: MemoryStore;
let small: string;
let large: string;

beforeAll(async () => {
  database = await openTestDatabase();
  const { db } = database;
  store = createMemoryStore(db);
  [small, large] = [
    (await makeWorkspace(db, 'acc_small')).customerId,
    (await makeWorkspace(db, 'acc_large')).customerId,
  ];
  await db.rows(sql`drop index memory_entries_by_embedding`);
  await db.rows(sql`alter table memory_entries alter embedding type vector(${sql.raw(String(DIMENSIONS))})`);
  // All of the large one's are nearer to the question than any of the small one's.
  await fill(db, large, 20_000, () => near(0.3));
  await fill(db, large, 7, () => near(4), 'rare');
  await fill(db, small, 40, () => near(2));
  await db.rows(sql`create index memory_entries_by_embedding on memory_entries using hnsw (embedding vector_cosine_ops)
    with (m = 16, ef_construction = 32)`);
  await db.rows(sql`analyze memory_entries`);
});
afterAll(() => database?.close());

function unit(vector: number[]): number[] {
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

let state = 1;
const random = () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
/** The question with noise on it. */
const near = (noise: number) => unit(QUESTION.map((value) => value + noise * (random() - 0.5)));

async function fill(db: Database, customerId: string, count: number, vector: () => number[], type = 'note') {
  for (let at = 0; at < count; at += 1_000) {
    const vectors = Array.from({ length: Math.min(1_000, count - at) }, () => JSON.stringify(vector()));
    await db.rows(sql`
      insert into memory_entries (customer_id, type, content, embedding)
      select ${customerId}, ${type}, 'a note', v::vector from unnest(${sql.param(vectors)}::text[]) v`);
  }
}

const ASKED = { model: PACKAGED.model, vector: QUESTION };

/** What comparing with every entry gives. */
async function exactly(customerId: string, k: number): Promise<number[]> {
  const rows = await database.db.rows<{ id: number }>(sql`
    select id from (
      select id, embedding <=> ${JSON.stringify(QUESTION)}::vector as distance from memory_entries
      where customer_id = ${customerId} offset 0) every_one
    order by distance limit ${k}`);
  return rows.map(({ id }) => id);
}

// Guards: a workspace with few entries finds as many as it asked for, and the right ones, however many closer ones
// others have; none of theirs is found.
test.each([1, 10, 40])('a small workspace among a large one gets its %i', async (k) => {
  const found = await store.searchEntries({ customerId: small, embedding: ASKED, k });
  expect(found.map(({ id }) => id)).toEqual(await exactly(small, k));
});

// Guards: a search for more entries than there are does not fail.
test('asking for more than there are gives all', async () => {
  expect(await store.searchEntries({ customerId: small, embedding: ASKED, k: 200 })).toHaveLength(40);
  expect(await store.searchEntries({ customerId: 'nobody', embedding: ASKED, k: 5 })).toEqual([]);
});

// Guards: the index finds nearly the same entries as a comparison with all, in order and with the true similarity.
test('a large workspace is searched by the index', async () => {
  const plan = JSON.stringify(
    await database.db.transaction(async () => {
      await database.db.rows(sql`set local enable_sort = off`);
      return database.db.rows(sql`
        explain select id from memory_entries where customer_id = ${large}
        order by embedding <=> ${JSON.stringify(QUESTION)}::vector limit 50`);
    }),
  );
  expect(plan).toContain('memory_entries_by_embedding');
  const found = await store.searchEntries({ customerId: large, embedding: ASKED, k: 50 });
  const scores = found.map(({ score }) => score);
  expect(scores).toEqual([...scores].sort((a, b) => b - a));
  expect(scores[0]).toBeLessThanOrEqual(1);
  const truth = new Set(await exactly(large, 50));
  expect(found.filter(({ id }) => truth.has(id)).length).toBeGreaterThanOrEqual(45);
});

// Guards: a strict filter does not end the walk along the index before the matching entries are found.
test('a filter does not thin the results', async () => {
  const search = { customerId: large, embedding: ASKED, k: 7, filters: { type: 'rare' } };
  const found = await store.searchEntries(search);
  expect(found.map(({ type }) => type)).toEqual(new Array(7).fill('rare'));
});

// Guards: the settings of a search end with it, because others use the same connection.
test('leaves no setting behind', async () => {
  await store.searchEntries({ customerId: large, embedding: ASKED, k: 3 });
  const [row] = await database.db.rows<{ sort: string; scan: string }>(
    sql`select current_setting('enable_sort') as sort, current_setting('hnsw.iterative_scan') as scan`,
  );
  expect(row).toEqual({ sort: 'on', scan: 'off' });
});
