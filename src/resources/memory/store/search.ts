/**
 * Finds the entries of a workspace that mean what a vector means. One index serves all workspaces, and filtering what
 * it gives by workspace must not thin the results: a workspace that has few of all entries is compared exactly, which
 * is also quicker, and for a large one the index is walked on until there are enough.
 */
import { and, eq, isNotNull, sql, type SQL } from 'drizzle-orm';
import type { SelectedFields } from 'drizzle-orm/pg-core';
import { first } from '../../../platform/core/present.ts';
import type { Database } from '../../../platform/db/client.ts';
import type { Embedding } from '../../../platform/models/types.ts';
import { isColumnOfVector, vectorText } from '../embedding-column.ts';
import { memoryEntries } from '../table.ts';
import { entriesWhere, entryListColumns, type EntryFilter, type EntryListRow } from './entries.ts';

/**
 * Comparing exactly costs by the entries of the workspace (n), the index by those that it passes until k of them are the
 * workspace's: k N / n, of N in all. Both took 8 ms of CPU at n = 1,000 of N = 100,000 (native Postgres, k = 10), and
 * 4 ms at n = 300 of N = 10,000 (embedded): the border is where n² = k N.
 */
const FEW = 200;
/**
 * The index holds so many candidates at once. With 100 some graphs gave 95% of what is nearest, with 200 all gave 99%.
 */
const EF_SEARCH = 200;

interface Nearest {
  customerId: string;
  /** It may be under way: meanwhile the database is asked how it is to be compared. */
  embedding: Embedding | Promise<Embedding>;
  /** So many entries are wanted. */
  k: number;
  /** A condition beside that on the workspace. */
  where?: SQL | undefined;
}

export interface EntrySearch extends Omit<Nearest, 'where'> {
  filters?: EntryFilter;
}

/** @returns entries with their cosine, the closest first */
export const searchEntries = (db: Database, { filters = {}, ...search }: EntrySearch) =>
  nearest<EntryListRow>(db, { ...search, where: entriesWhere(search.customerId, filters) }, entryListColumns);

/** @param columns of the entries to give beside the score, as `Row` has them */
export async function nearest<Row>(
  db: Database,
  { customerId, embedding, k, where }: Nearest,
  columns: SelectedFields,
): Promise<(Row & { score: number })[]> {
  if (k < 1) return [];
  const [vector, isExact] = await Promise.all([embedding, isComparedExactly(db, customerId, k)]);
  const isComparable = and(isNotNull(memoryEntries.embedding), isColumnOfVector(vector));
  const isEntry = and(eq(memoryEntries.customerId, customerId), where, isComparable);
  const compared = sql`
    select id, embedding <=> ${vectorText(vector)}::vector as distance from memory_entries where ${isEntry}`;
  const load = async (near: SQL) => {
    const rows: unknown = await db.orm
      .select({ ...columns, score: sql<number>`1 - near.distance` })
      .from(memoryEntries)
      .innerJoin(sql`(${near}) near`, sql`near.id = ${memoryEntries.id}`)
      .orderBy(sql`near.distance`);
    return rows as (Row & { score: number })[];
  };
  // `offset 0` keeps the two selects apart, and so the index out of it.
  const exactly = () => load(sql`select * from (${compared} offset 0) compared order by distance limit ${k}`);

  if (isExact) return exactly();
  const found = await db.transaction(async () => {
    await db.rows(sql`
      select set_config('hnsw.iterative_scan', 'strict_order', true),
        set_config('hnsw.ef_search', ${String(EF_SEARCH)}, true), set_config('enable_sort', 'off', true)`);
    return load(sql`${compared} order by distance limit ${k}`);
  });
  // There are no more, or the filter lets so few through that the index gave up before it had met them.
  return found.length < k ? exactly() : found;
}

/** Counts no further than it has to. */
async function isComparedExactly(db: Database, customerId: string, k: number): Promise<boolean> {
  const { isExact } = first(
    await db.rows<{ isExact: boolean }>(sql`
    with most as (
      select greatest(${FEW}::float8, sqrt(${k}::float8 * greatest(reltuples, 0)))::int as entries
      from pg_class where oid = 'memory_entries'::regclass)
    select most.entries >= (
      select count(*) from (
        select from memory_entries where customer_id = ${customerId} limit (select entries + 1 from most)) counted
      ) as "isExact" from most`),
  );
  return isExact;
}
