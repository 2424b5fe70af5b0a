/** Queries on the memory as a whole: the graph of its entries, and counts of what it has. */
import { and, desc, eq, sql } from 'drizzle-orm';
import { first } from '../../../platform/core/present.ts';
import type { Database } from '../../../platform/db/client.ts';
import type { EdgeType, EntryStatus } from '../model.ts';
import { countsOf } from '../../tallies/store.ts';
import { memoryEntries } from '../table.ts';

/** A graph with more edges is no picture any more. */
const MAX_EDGES = 20_000;

export interface GraphFilter {
  types: readonly string[];
  agent: string | undefined;
  status: EntryStatus;
  /** The highest number of nodes. */
  limit: number;
}

interface Edge {
  source: number;
  target: number;
  dst_slug: string | null;
  edge_type: EdgeType;
}

/**
 * @returns the newest entries that the filter lets through and the edges between them; an edge belongs to the entry
 * where it starts
 */
export async function readGraph(db: Database, customerId: string, { types, agent, status, limit }: GraphFilter) {
  const found = await db.orm
    .select({
      id: memoryEntries.id,
      type: memoryEntries.type,
      slug: memoryEntries.slug,
      name: memoryEntries.name,
      description: memoryEntries.description,
      agent: memoryEntries.agent,
      scope: memoryEntries.scope,
      status: memoryEntries.status,
      always_load: memoryEntries.alwaysLoad,
    })
    .from(memoryEntries)
    .where(
      and(
        eq(memoryEntries.customerId, customerId),
        eq(memoryEntries.status, status),
        agent === undefined ? undefined : eq(memoryEntries.agent, agent),
        types.length === 0 ? undefined : sql`${memoryEntries.type} = any(${sql.param(types)}::text[])`,
      ),
    )
    .orderBy(desc(memoryEntries.createdAt), desc(memoryEntries.id))
    .limit(limit + 1);
  const nodes = found.slice(0, limit);
  const ids = sql`${sql.param(nodes.map(({ id }) => id))}::int[]`;
  const ofNodes = sql`from memory_edges where customer_id = ${customerId} and src_id = any(${ids})`;
  const edges = await db.rows<Edge>(sql`
    select src_id as source, dst_id as target, dst_slug, edge_type::text ${ofNodes} and dst_id = any(${ids})
    order by id limit ${MAX_EDGES + 1}`);
  const dangling = first(
    await db.rows<{ count: number }>(sql`
    select count(*)::int as count ${ofNodes} and (dst_id = any(${ids})) is not true`),
  );
  return {
    nodes,
    edges: edges.slice(0, MAX_EDGES),
    droppedDangling: dangling.count,
    truncated: found.length > limit || edges.length > MAX_EDGES,
  };
}

interface Count {
  key: string;
  count: number;
}

/** @returns counts, the most frequent first; entries without an agent are counted under the empty text */
export async function readStats(db: Database, customerId: string) {
  const rows = await db.rows<Count & { by: 'total' | 'agent' | 'type' | 'scope' }>(sql`
    select case grouping(agent, type, scope) when 3 then 'agent' when 5 then 'type' when 6 then 'scope' else 'total' end as by,
      coalesce(case grouping(agent, type, scope) when 3 then agent when 5 then type when 6 then scope end, '') as key,
      coalesce(sum(n), 0)::float8 as count
    from (
      select coalesce(c.dims[1], '') as agent, c.dims[2] as type, c.dims[3] as scope, sum(c.rows) as n
      from ${countsOf({ list: 'memory_entries', customerId })} c group by 1, 2, 3 having sum(c.rows) <> 0
    ) entries
    group by grouping sets ((), (agent), (type), (scope))
    order by count desc, key`);
  const by = (what: string): Count[] => rows.filter((row) => row.by === what).map(({ key, count }) => ({ key, count }));
  // The tallies do not tell these apart. A null is seen in the row's header, without its vector.
  const { unreadable } = first(
    await db.rows<{ unreadable: number }>(sql`
    select count(*)::int as unreadable from memory_entries where customer_id = ${customerId} and embedding is null`),
  );
  return {
    total: first(by('total')).count,
    unreadable,
    by_agent: by('agent'),
    by_type: by('type'),
    by_scope: by('scope'),
  };
}
