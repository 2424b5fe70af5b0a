/**
 * The entries of a workspace that mean what a vector means. One index serves all workspaces, and filtering what it gives
 * by workspace must not thin the results: a workspace that has few of all entries is compared exactly, which is also
 * quicker, and for a large one the index is walked on until there are enough.
 */
import { and, eq, isNotNull, sql, type SQL } from 'drizzle-orm';
import type { SelectedFields } from 'drizzle-orm/pg-core';
import type { Database } from '../../../platform/db/client.ts';
import { memoryEntries } from '../table.ts';
import { entriesWhere, entryListColumns, type EntryFilter, type EntryListRow } from './entries.ts';

/**
 * Comparing exactly costs by the entries of the workspace (n), the index by those it passes until k are the workspace's:
 * k N / n, of N in all. Measured (Postgres 15, N = 100,000, k = 10) both take 12 ms at n = 1,200: n² = 1.44 k N.
 */
const EXACT = { factor: 1.44, atLeast: 500 };
/** Candidates that the index holds at once. With 100 some graphs gave 95% of what is nearest, with 200 all gave 99%. */
const EF_SEARCH = 200;

interface Nearest {
  customerId: string;
  embedding: readonly number[];
  /** How many. */
  k: number;
  /** Beside the workspace. */
  where?: SQL | undefined;
}

export interface EntrySearch extends Omit<Nearest, 'where'> {
  filters?: EntryFilter;
}

/** The closest first, with the cosine. */
export const searchEntries = (db: Database, { filters = {}, ...search }: EntrySearch) =>
  nearest<EntryListRow>(db, { ...search, where: entriesWhere(search.customerId, filters) }, entryListColumns);

/** @param columns of the entries to give beside the score, as `Row` has them */
export async function nearest<Row>(
  db: Database,
  { customerId, embedding, k, where }: Nearest,
  columns: SelectedFields,
): Promise<(Row & { score: number })[]> {
  if (k < 1) return [];
  const distance = sql`${memoryEntries.embedding} <=> ${JSON.stringify(embedding)}::vector`;
  const closestBy = async (order: SQL) => {
    const rows: unknown = await db.orm
      .select({ ...columns, score: sql<number>`1 - (${distance})` })
      .from(memoryEntries)
      .where(and(eq(memoryEntries.customerId, customerId), where, isNotNull(memoryEntries.embedding)))
      .orderBy(order)
      .limit(k);
    return rows as (Row & { score: number })[];
  };
  // The index cannot give this order, so it is not used.
  const exactly = () => closestBy(sql`(${distance}) + 0`);

  if (await isComparedExactly(db, customerId, k)) return exactly();
  const found = await db.transaction(async () => {
    await db.rows(sql`
      select set_config('hnsw.iterative_scan', 'strict_order', true),
        set_config('hnsw.ef_search', ${String(EF_SEARCH)}, true), set_config('enable_sort', 'off', true)`);
    return closestBy(distance);
  });
  // There are no more, or the filter lets so few through that the index gave up before it had met them.
  return found.length < k ? exactly() : found;
}

/** Counts no further than it has to. */
async function isComparedExactly(db: Database, customerId: string, k: number): Promise<boolean> {
  const [row] = await db.rows<{ isExact: boolean }>(sql`
    with most as (
      select greatest(${EXACT.atLeast}::float8, sqrt(${EXACT.factor * k}::float8 * greatest(reltuples, 0)))::int as entries
      from pg_class where oid = 'memory_entries'::regclass)
    select most.entries >= (
      select count(*) from (
        select from memory_entries where customer_id = ${customerId} limit (select entries + 1 from most)) counted
      ) as "isExact" from most`);
  return row!.isExact;
}
