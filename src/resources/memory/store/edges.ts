/**
 * Edges of the graph memory. They are written in the transaction of the entry they belong to, under `lockGraph`: an
 * edge then never misses a slug that appears in the same moment, and two deletions never wait for each other.
 */
import { and, asc, eq, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { Database } from '../../../platform/db/client.ts';
import { lockWorkspace } from '../../workspaces/store/fragments.ts';
import { wikilinks, type WikilinkType } from '../model.ts';
import { memoryEdges, memoryEntries } from '../table.ts';

/**
 * Lets one transaction at a time change the graph of a workspace. It is the lock of `underCap` too, so no two are taken
 * in turn.
 */
export const lockGraph = (db: Database, customerId: string): Promise<void> => lockWorkspace(db, customerId);

export interface Linking {
  customerId: string;
  id: number;
  content: string;
}

/**
 * Makes the wikilinks in an entry's content its edges, in the place of those it had. A slug that no entry has yet makes
 * an unresolved edge.
 * @param typeOf tells what a link to this slug means
 */
export async function writeEdges(
  db: Database,
  { customerId, id, content }: Linking,
  typeOf: (slug: string) => WikilinkType = () => 'links_to',
): Promise<void> {
  const links = wikilinks(content).map((slug) => ({ slug, type: typeOf(slug) }));
  await db.rows(sql`delete from memory_edges where src_id = ${id} and edge_type <> 'supersedes'`);
  if (links.length === 0) return;
  await db.rows(sql`
    insert into memory_edges (customer_id, src_id, edge_type, dst_slug, dst_id)
    select ${customerId}, ${id}, link.type::memory_edge_type, link.slug, entry.id
    from rows from (jsonb_to_recordset(${JSON.stringify(links)}::jsonb) as (slug text, type text))
      with ordinality as link(slug, type, position)
    left join memory_entries entry
      on entry.customer_id = ${customerId} and entry.slug = link.slug and link.type <> 'uses_tool'
    order by link.position`);
}

/** Leads every link that names the slug to the entry which has it now. A slug of a tool names no entry. */
export async function resolveSlug(
  db: Database,
  { customerId, slug, id }: { customerId: string; slug: string; id: number },
): Promise<void> {
  await db.rows(sql`
    update memory_edges set dst_id = ${id}
    where customer_id = ${customerId} and dst_slug = ${slug} and edge_type in ('links_to', 'depends_on')
      and dst_id is distinct from ${id}`);
}

export type MemoryLinkRow = Awaited<ReturnType<typeof listLinks>>['outgoing'][number];

/** @returns edges from and to an entry of the workspace, with what is at their other end */
export async function listLinks(db: Database, customerId: string, id: number) {
  const other = alias(memoryEntries, 'other');
  const select = () =>
    db.orm
      .select({
        edge_type: memoryEdges.edgeType,
        dst_slug: memoryEdges.dstSlug,
        dst_id: memoryEdges.dstId,
        other: { id: other.id, type: other.type, slug: other.slug, name: other.name, status: other.status },
      })
      .from(memoryEdges);
  const here = eq(memoryEdges.customerId, customerId);
  const outgoing = await select()
    .leftJoin(other, and(eq(other.id, memoryEdges.dstId), eq(other.customerId, customerId)))
    .where(and(here, eq(memoryEdges.srcId, id)))
    .orderBy(asc(memoryEdges.id));
  const incoming = await select()
    .innerJoin(other, and(eq(other.id, memoryEdges.srcId), eq(other.customerId, customerId)))
    .where(and(here, eq(memoryEdges.dstId, id)))
    .orderBy(asc(memoryEdges.id));
  return { outgoing, incoming };
}
