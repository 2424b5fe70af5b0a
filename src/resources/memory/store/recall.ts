/** Finds what a run is reminded of when it begins: what is always to be known, and what is near to its prompt. */
import { and, asc, eq, ne, or, sql, type SQL } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import type { Embedding } from '../../../platform/models/types.ts';
import { PERSONAL, SKILL } from '../model.ts';
import { memoryEntries } from '../table.ts';
import { nearest } from './search.ts';

export interface Remembered {
  id: number;
  type: string;
  name: string | null;
  content: string;
}

const rememberedColumns = {
  id: memoryEntries.id,
  type: memoryEntries.type,
  name: memoryEntries.name,
  content: memoryEntries.content,
};

export type Found = Remembered & { slug: string | null; createdAt: Date };
export const foundColumns = { ...rememberedColumns, slug: memoryEntries.slug, createdAt: memoryEntries.createdAt };

/** Selects active memories that an agent may see: its own, and those that are not another agent's alone. */
export const seenBy = (agent: string): SQL | undefined =>
  and(
    eq(memoryEntries.status, 'active'),
    ne(memoryEntries.type, SKILL),
    or(eq(memoryEntries.agent, agent), ne(memoryEntries.scope, PERSONAL)),
  );

/**
 * @returns the entries that are always in what the agent knows, the oldest first, so that the text stays the same from
 * run to run
 */
export const listAlwaysLoaded = (
  db: Database,
  { customerId, agent, limit }: { customerId: string; agent: string; limit: number },
): Promise<Remembered[]> =>
  db.orm
    .select(rememberedColumns)
    .from(memoryEntries)
    .where(and(eq(memoryEntries.customerId, customerId), eq(memoryEntries.alwaysLoad, true), seenBy(agent)))
    .orderBy(asc(memoryEntries.id))
    .limit(limit);

/** @returns the entries nearest to a vector, without those that are always loaded */
export const recallEntries = (
  db: Database,
  { customerId, agent, embedding, k }: { customerId: string; agent: string; embedding: Embedding; k: number },
): Promise<(Remembered & { score: number })[]> =>
  nearest<Remembered>(
    db,
    { customerId, embedding, k, where: and(eq(memoryEntries.alwaysLoad, false), seenBy(agent)) },
    rememberedColumns,
  );

/** @returns what an agent finds when it searches */
export const searchForAgent = (
  db: Database,
  { customerId, agent, embedding, k }: { customerId: string; agent: string; embedding: Embedding; k: number },
) => nearest<Found>(db, { customerId, embedding, k, where: seenBy(agent) }, foundColumns);

/** The entries that were compared with a prompt, and those of them that were close enough to be told. */
export interface Recalled {
  candidates: readonly number[];
  hits: readonly number[];
}

/**
 * A CTE that counts what a run was reminded of, in the statement that begins the run, so that it is counted once.
 * @param guard has a row when the run begins here and now
 */
export const countRecalled = (guard: SQL, customerId: string, { candidates, hits }: Recalled): SQL => sql`
  update memory_entries set impression_count = impression_count + 1,
    hit_count = hit_count + (id = any(${sql.param(hits)}::int[]))::int,
    last_hit_at = case when id = any(${sql.param(hits)}::int[]) then now() else last_hit_at end
  where id in (
      select id from memory_entries where customer_id = ${customerId} and id = any(${sql.param(candidates)}::int[])
      order by id for update)
    and exists (select 1 from ${guard})`;
