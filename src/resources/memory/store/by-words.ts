/**
 * Finds the entries of a workspace that share words with a question whose script the embedding model cannot read. A
 * word that few entries have counts for more. Nothing here knows what a word means.
 */
import { and, eq, sql, type SQL } from 'drizzle-orm';
import type { SelectedFields } from 'drizzle-orm/pg-core';
import type { Database } from '../../../platform/db/client.ts';
import { memoryEntries } from '../table.ts';
import { entriesWhere, entryListColumns, type EntryFilter, type EntryListRow } from './entries.ts';
import { foundColumns, seenBy, type Found } from './recall.ts';

/** These scripts write no spaces between words, or words of one or two characters. */
const SHORT_WORDS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** Each part is looked for in each entry, so the first ones of a long question must do. */
const MAX_PARTS = 64;
const MAX_CONTENT = 4_000;

/** Returns the pieces of words that are compared: two characters, or three in scripts with longer words. */
export function wordParts(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const parts = words.flatMap((word) => {
    const characters = [...word];
    const size = SHORT_WORDS.test(word) ? 2 : 3;
    return Array.from({ length: Math.max(characters.length - size + 1, 0) }, (_, at) =>
      characters.slice(at, at + size).join(''),
    );
  });
  return [...new Set(parts)].slice(0, MAX_PARTS);
}

interface ByWords {
  customerId: string;
  text: string;
  /** The number of entries wanted. */
  k: number;
}

export const searchEntriesByWords = (db: Database, { filters = {}, ...search }: ByWords & { filters?: EntryFilter }) =>
  sharing<EntryListRow>(db, { ...search, where: entriesWhere(search.customerId, filters) }, entryListColumns);

/** @returns what an agent finds by words that it shares with a question */
export const searchForAgentByWords = (db: Database, { agent, ...search }: ByWords & { agent: string }) =>
  sharing<Found>(db, { ...search, where: seenBy(agent) }, foundColumns);

/** @returns entries with the share of the question's parts that they have, the largest first */
async function sharing<Row>(
  db: Database,
  { customerId, text, k, where }: ByWords & { where: SQL | undefined },
  columns: SelectedFields,
): Promise<(Row & { score: number })[]> {
  const parts = wordParts(text);
  if (parts.length === 0) return [];
  const shared = sql`
    with entry as (
      select id, lower(left(content, ${MAX_CONTENT})) as content from memory_entries
      where ${and(eq(memoryEntries.customerId, customerId), where)}),
    hit as (
      select entry.id, part from entry
      join unnest(${sql.param(parts)}::text[]) asked(part) on strpos(entry.content, part) > 0),
    weight as (
      select part, ln(1 + (select count(*) from entry)::float8 / greatest(count(hit.id), 1)) as weight
      from unnest(${sql.param(parts)}::text[]) asked(part) left join hit using (part) group by part)
    select hit.id, sum(weight) / (select sum(weight) from weight) as share
    from hit join weight using (part) group by hit.id order by share desc, hit.id desc limit ${k}`;
  const rows: unknown = await db.orm
    .select({ ...columns, score: sql<number>`near.share` })
    .from(memoryEntries)
    .innerJoin(sql`(${shared}) near`, sql`near.id = ${memoryEntries.id}`)
    .orderBy(sql`near.share desc`, sql`near.id desc`);
  return rows as (Row & { score: number })[];
}
