/**
 * The column of vectors: which model made what is in it is the comment on the column, how long they are its type, and so
 * the two change together with what they describe.
 *
 * To change the model, vectors of the new one are collected in a second column beside the old, with an index of its own,
 * and then that column takes the place of the old one in one transaction: until then searches go on as before, and
 * whoever is broken off goes on where it was.
 */
import { and, eq, isNull, sql } from 'drizzle-orm';
import { itemAt, present } from '../../../platform/core/present.ts';
import type { Database } from '../../../platform/db/client.ts';
import { isColumnOf } from '../embedding-column.ts';
import type { Embedding } from '../../../platform/models/types.ts';
import { HNSW, memoryEntries } from '../table.ts';

/** A model, and how many numbers its vectors have. */
export interface VectorKind {
  model: string;
  dimensions: number;
}

/** As many rows as a table can have. */
const MOST_ROWS = 2 ** 31 - 1;
const CURRENT = 'embedding';
const NEXT = 'embedding_next';

const kindOf = async (db: Database, column: string): Promise<VectorKind | undefined> => {
  const [kind] = await db.rows<VectorKind>(sql`
    select coalesce(col_description(attrelid, attnum), '') as model, atttypmod as dimensions from pg_attribute
    where attrelid = 'memory_entries'::regclass and attname = ${column} and not attisdropped`);
  return kind;
};

export const currentKind = async (db: Database): Promise<VectorKind> => present(await kindOf(db, CURRENT));

export const isSameKind = (a: VectorKind, b: VectorKind): boolean =>
  a.model === b.model && a.dimensions === b.dimensions;

const vectorType = ({ dimensions }: VectorKind) => sql.raw(`vector(${dimensions})`);
/** The statement `comment` takes no parameters, so the text is written out. */
const comment = (db: Database, column: string, { model }: VectorKind) =>
  db.rows(sql.raw(`comment on column memory_entries.${column} is '${model.replaceAll("'", "''")}'`));

/** @returns whether the stored vectors are of this model */
export async function areVectorsOf(db: Database, { model, dimensions }: VectorKind): Promise<boolean> {
  const [column] = await db.rows<{ isIt: boolean }>(sql`select ${isColumnOf({ model, dimensions })} as "isIt"`);
  return present(column).isIt;
}

/** Makes the column one of this kind where it holds nothing yet. @returns false where it does */
export const adoptKind = (db: Database, kind: VectorKind): Promise<boolean> =>
  db.transaction(async () => {
    await db.rows(sql`lock table memory_entries in access exclusive mode`);
    const [first] = await db.rows(sql`select 1 from memory_entries where embedding is not null limit 1`);
    if (first) return false;
    await db.rows(sql`alter table memory_entries alter embedding type ${vectorType(kind)} using null`);
    await comment(db, CURRENT, kind);
    return true;
  });

/** Makes the second column, unless an earlier attempt with the same model left it. */
export const prepareNext = (db: Database, kind: VectorKind): Promise<void> =>
  db.transaction(async () => {
    // Of two at once the second sees the column of the first.
    await db.rows(sql`lock table memory_entries in access exclusive mode`);
    const there = await kindOf(db, NEXT);
    if (there && isSameKind(there, kind)) return;
    await db.rows(sql`alter table memory_entries drop column if exists embedding_next`);
    await db.rows(sql`alter table memory_entries add column embedding_next ${vectorType(kind)}`);
    await comment(db, NEXT, kind);
    // An entry that is written anew meanwhile is embedded anew.
    await db.rows(sql`
      create or replace function memory_entries_forget_next() returns trigger language plpgsql as $$
      begin
        new.embedding_next := null;
        return new;
      end $$`);
    await db.rows(sql`
      create or replace trigger memory_entries_forget_next before update of content on memory_entries
      for each row when (old.content is distinct from new.content) execute function memory_entries_forget_next()`);
  });

/** Counts the entries of all workspaces. */
export async function countNext(db: Database): Promise<{ total: number; done: number }> {
  return itemAt(
    await db.rows<{ total: number; done: number }>(
      sql`select count(*)::int as total, count(embedding_next)::int as done from memory_entries`,
    ),
    0,
  );
}

export interface TextToEmbed {
  id: number;
  content: string;
}

/** @returns entries that still lack a vector of the new model, from an id on */
export const listWithoutNext = (
  db: Database,
  { after = 0, limit }: { after?: number; limit: number },
): Promise<TextToEmbed[]> =>
  db.rows<TextToEmbed>(sql`
    select id, content from memory_entries where id > ${after} and embedding_next is null order by id limit ${limit}`);

/** Writes vectors of entries whose content is still what was embedded; the others come again. */
export async function writeNext(db: Database, vectors: readonly (TextToEmbed & { vector: number[] })[]): Promise<void> {
  const rows = vectors.map(({ id, content, vector }) => ({ id, content, vector: JSON.stringify(vector) }));
  await db.rows(sql`
    update memory_entries set embedding_next = given.vector::vector
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as given(id int, content text, vector text)
    where memory_entries.id = given.id and memory_entries.content = given.content`);
}

export async function isNextIndexed(db: Database): Promise<boolean> {
  const [index] = await db.rows(sql`
    select 1 from pg_index where indexrelid = to_regclass('memory_entries_by_embedding_next') and indisvalid`);
  return index !== undefined;
}

/** Builds the index beside the work of others; one that an earlier attempt left half made is made anew. */
export async function indexNext(db: Database): Promise<void> {
  await db.rows(sql`drop index if exists memory_entries_by_embedding_next`);
  await db.rows(sql`
    create index concurrently if not exists memory_entries_by_embedding_next on memory_entries
    using hnsw (embedding_next vector_cosine_ops)
    with (m = ${sql.raw(String(HNSW.m))}, ef_construction = ${sql.raw(String(HNSW.ef_construction))})`);
}

/**
 * Puts the second column in the place of the first.
 * @returns false, with nothing changed, where entries that the model reads still lack a vector, or the index is not whole
 */
export const swapNext = (db: Database, reads: (text: string) => boolean): Promise<boolean> =>
  db.transaction(async () => {
    await db.rows(sql`lock table memory_entries in access exclusive mode`);
    const without = await listWithoutNext(db, { limit: MOST_ROWS });
    if (without.some(({ content }) => reads(content)) || !(await isNextIndexed(db))) return false;
    await db.rows(sql`drop trigger memory_entries_forget_next on memory_entries`);
    await db.rows(sql`drop function memory_entries_forget_next`);
    await db.rows(sql`alter table memory_entries drop column embedding`);
    await db.rows(sql`alter table memory_entries rename column embedding_next to embedding`);
    await db.rows(sql`alter index memory_entries_by_embedding_next rename to memory_entries_by_embedding`);
    return true;
  });

/** @returns entries from an id on, each with whether it has a vector */
export const listEmbedded = (db: Database, { after, limit }: { after: number; limit: number }) =>
  db.rows<TextToEmbed & { isEmbedded: boolean }>(sql`
    select id, content, embedding is not null as "isEmbedded" from memory_entries where id > ${after}
    order by id limit ${limit}`);

/** @returns how many lost their vectors */
export async function forget(db: Database, ids: readonly number[]): Promise<number> {
  if (ids.length === 0) return 0;
  const rows = await db.rows(sql`
    update memory_entries set embedding = null where id = any(${sql.param([...ids])}::int[]) returning id`);
  return rows.length;
}

/** Writes the vector of an entry that still lacks one and whose content is still what was embedded. @returns 1 if so */
export async function writeLacking(
  db: Database,
  { id, content, embedding }: TextToEmbed & { embedding: Embedding },
): Promise<number> {
  const rows = await db.orm
    .update(memoryEntries)
    .set({ embedding })
    .where(and(eq(memoryEntries.id, id), eq(memoryEntries.content, content), isNull(memoryEntries.embedding)))
    .returning({ id: memoryEntries.id });
  return rows.length;
}
