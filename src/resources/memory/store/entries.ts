/** Queries on entries of the memory. Every one takes the workspace, to which a foreign id is unknown. */
import { and, desc, eq, getTableColumns, isNotNull, ne, sql, type SQL } from 'drizzle-orm';
import { first, present } from '../../../platform/core/present.ts';
import { found, type Database } from '../../../platform/db/client.ts';
import type { Embedding } from '../../../platform/models/types.ts';
import { Problem } from '../../../platform/core/problem.ts';
import { PREVIEW_LENGTH, SKILL, type EntryStatus, type WikilinkType } from '../model.ts';
import { countRows, countsOf, listFilters } from '../../tallies/store.ts';
import { memoryEdges, memoryEntries } from '../table.ts';
import { lockGraph, resolveSlug, writeEdges } from './edges.ts';

const { content: _content, embedding: _embedding, customerId: _customerId, ...plain } = getTableColumns(memoryEntries);

/** A list shows these columns of an entry; a search adds the score. */
export const entryListColumns = {
  id: plain.id,
  type: plain.type,
  slug: plain.slug,
  name: plain.name,
  description: plain.description,
  agent: plain.agent,
  scope: plain.scope,
  sourceAttribution: plain.sourceAttribution,
  status: plain.status,
  alwaysLoad: plain.alwaysLoad,
  lastVerifiedAt: plain.lastVerifiedAt,
  meta: plain.meta,
  createdAt: plain.createdAt,
  updatedAt: plain.updatedAt,
  hasEmbedding: sql<boolean>`${memoryEntries.embedding} is not null`,
  preview: sql<string>`left(${memoryEntries.content}, ${sql.raw(String(PREVIEW_LENGTH))})`,
};

const entryColumns = {
  ...plain,
  content: memoryEntries.content,
  hasEmbedding: entryListColumns.hasEmbedding,
};

export type EntryListRow = Awaited<ReturnType<typeof listEntries>>['rows'][number];
export type EntryRow = Awaited<ReturnType<typeof findEntry>>;

export interface EntryFilter {
  agent?: string | undefined;
  type?: string | undefined;
  scope?: string | undefined;
}

const chooseEntries = listFilters('memory_entries', memoryEntries.customerId, {
  agent: (agent: string) => eq(memoryEntries.agent, agent),
  type: (type: string) => eq(memoryEntries.type, type),
  scope: (scope: string) => eq(memoryEntries.scope, scope),
});

export const entriesWhere = (customerId: string, filter: EntryFilter): SQL | undefined =>
  chooseEntries(customerId, filter).where;

// The id is compared as bigint, so that one too large for any row is one that no row has.
const entryIs = (customerId: string, id: number): SQL | undefined =>
  and(eq(memoryEntries.customerId, customerId), sql`${memoryEntries.id} = ${id}::bigint`);
const entriesAre = (customerId: string, ids: readonly number[]): SQL | undefined =>
  and(eq(memoryEntries.customerId, customerId), sql`${memoryEntries.id} = any(${sql.param(ids)}::bigint[])`);

/** @returns entries, the newest first */
export async function listEntries(db: Database, customerId: string, filter: EntryFilter, limit: number) {
  const { where, tallied } = chooseEntries(customerId, filter);
  const rows = await db.orm
    .select(entryListColumns)
    .from(memoryEntries)
    .where(where)
    .orderBy(desc(memoryEntries.createdAt), desc(memoryEntries.id))
    .limit(limit);
  return { rows, total: await countRows(db, tallied) };
}

/** @throws Problem not_found */
export async function findEntry(db: Database, customerId: string, id: number) {
  const [entry] = await db.orm.select(entryColumns).from(memoryEntries).where(entryIs(customerId, id));
  return found(entry);
}

/** @returns what an earlier attempt of a tool call wrote */
export async function findByCall(db: Database, customerId: string, callKey: string) {
  const [entry] = await db.orm
    .select({ id: memoryEntries.id, slug: memoryEntries.slug })
    .from(memoryEntries)
    .where(and(eq(memoryEntries.customerId, customerId), eq(memoryEntries.callKey, callKey)));
  return entry;
}

/** @returns those of these ids that exist */
export async function findIds(db: Database, customerId: string, ids: readonly number[]): Promise<number[]> {
  const rows = await db.orm.select({ id: memoryEntries.id }).from(memoryEntries).where(entriesAre(customerId, ids));
  return rows.map(({ id }) => id);
}

/** @returns the memories that are marked to be in files, active ones, by slug */
export async function listInFiles(db: Database, customerId: string) {
  return db.orm
    .select(entryColumns)
    .from(memoryEntries)
    .where(
      and(
        eq(memoryEntries.customerId, customerId),
        // As the index has it.
        sql`(${memoryEntries.meta} ->> 'in_files') = 'true'`,
        eq(memoryEntries.status, 'active'),
        ne(memoryEntries.type, SKILL),
        isNotNull(memoryEntries.slug),
      ),
    )
    .orderBy(memoryEntries.slug);
}

/** @returns those of these slugs that something has */
export async function findSlugs(db: Database, customerId: string, slugs: readonly string[]): Promise<string[]> {
  const rows = await db.orm
    .select({ slug: memoryEntries.slug })
    .from(memoryEntries)
    .where(
      and(eq(memoryEntries.customerId, customerId), sql`${memoryEntries.slug} = any(${sql.param(slugs)}::text[])`),
    );
  return rows.flatMap(({ slug }) => slug ?? []);
}

/** Counts memories; skills are not among them. */
export async function countEntries(db: Database, customerId: string): Promise<number> {
  const { total } = first(
    await db.rows<{ total: number }>(sql`
    select coalesce(sum(c.rows), 0)::float8 as total
    from ${countsOf({ list: 'memory_entries', customerId })} c where c.dims[2] <> ${SKILL}`),
  );
  return total;
}

type Row = typeof memoryEntries.$inferInsert;
export type NewEntry = Pick<Row, 'type' | 'content'> &
  Partial<
    Pick<
      Row,
      | 'slug'
      | 'name'
      | 'description'
      | 'agent'
      | 'scope'
      | 'sourceAttribution'
      | 'callKey'
      | 'alwaysLoad'
      | 'meta'
      | 'category'
      | 'agents'
    >
  > & { embedding: Embedding | null };

/**
 * Writes an entry with its links, and leads those to it that waited for its slug. It is called in a transaction that
 * holds the graph's lock.
 * @throws Problem slug_taken
 */
export async function insertEntry(
  db: Database,
  customerId: string,
  entry: NewEntry,
  typeOf?: (slug: string) => WikilinkType,
): Promise<EntryRow> {
  const [row] = await db.orm
    .insert(memoryEntries)
    .values({ ...entry, customerId })
    .onConflictDoNothing()
    .returning(entryColumns);
  if (!row) throw new Problem('slug_taken');
  await writeEdges(db, { customerId, id: row.id, content: row.content }, typeOf);
  if (row.slug !== null) await resolveSlug(db, { customerId, slug: row.slug, id: row.id });
  return row;
}

export type EntryChange = Partial<
  Pick<
    Row,
    | ('content' | 'description' | 'scope' | 'alwaysLoad' | 'meta' | 'embedding')
    // Files alone change these.
    | ('type' | 'name' | 'agent' | 'sourceAttribution')
  > & {
    status: Exclude<EntryStatus, 'superseded'>;
  }
>;

/** @throws Problem not_found, bad_request where the status of a superseded entry would change */
export const updateEntry = (db: Database, customerId: string, id: number, change: EntryChange): Promise<EntryRow> =>
  db.transaction(async () => {
    await lockGraph(db, customerId);
    const [row] = await db.orm
      .update(memoryEntries)
      .set({ ...change, updatedAt: sql`now()` })
      .where(
        and(entryIs(customerId, id), change.status === undefined ? undefined : ne(memoryEntries.status, 'superseded')),
      )
      .returning(entryColumns);
    if (!row) return refuseStatus(db, customerId, id);
    if (change.content !== undefined) {
      await writeEdges(db, { customerId, id: row.id, content: change.content });
    }
    return row;
  });

async function refuseStatus(db: Database, customerId: string, id: number): Promise<never> {
  await findEntry(db, customerId, id);
  throw supersededStays();
}

export const supersededStays = (): Problem => new Problem('bad_request', 'status: a superseded entry stays superseded');

/** Deletes all of them or, where one is unknown, none. @throws Problem not_found */
export const deleteEntries = (db: Database, customerId: string, ids: readonly number[]): Promise<void> =>
  db.transaction(async () => {
    await lockGraph(db, customerId);
    // The rows are locked in one order, because what recall counts locks these rows too.
    const rows = await db.orm
      .select({ id: memoryEntries.id })
      .from(memoryEntries)
      .where(entriesAre(customerId, ids))
      .orderBy(memoryEntries.id)
      .for('update');
    if (rows.length < new Set(ids).size) throw new Problem('not_found');
    // Links to them become unresolved by their reference; edges that said that something took their place are deleted.
    await db.orm
      .delete(memoryEdges)
      .where(and(sql`${memoryEdges.dstId} = any(${sql.param(ids)}::bigint[])`, eq(memoryEdges.edgeType, 'supersedes')));
    await db.orm.delete(memoryEntries).where(entriesAre(customerId, ids));
  });

/** @throws Problem not_found */
export async function verifyEntry(db: Database, customerId: string, id: number): Promise<Date> {
  const [row] = await db.orm
    .update(memoryEntries)
    .set({ lastVerifiedAt: sql`now()` })
    .where(entryIs(customerId, id))
    .returning({ lastVerifiedAt: memoryEntries.lastVerifiedAt });
  return present(found(row).lastVerifiedAt);
}

/** Selects `name` and `created_at` of the skills of a workspace. */
export const namedSkills = (customerId: string): SQL =>
  sql`select slug as name, created_at from memory_entries where customer_id = ${customerId} and type = 'skill'`;

/** Selects `name` and `created_at` of the memories of a workspace that files may hold. */
export const namedInFiles = (customerId: string): SQL => sql`
  select slug as name, created_at from memory_entries
  where customer_id = ${customerId} and type <> 'skill' and status = 'active' and (meta ->> 'in_files') = 'true'`;

/** Whether a workspace has any entry, for a statement of others. */
export const hasEntries = (customerId: SQL): SQL =>
  sql`exists (select 1 from memory_entries m where m.customer_id = ${customerId})`;
