/** The HTTP contract of the graph of memories, which says what links to what. */
import { z } from 'zod';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { limit } from '../../../platform/http/schemas.ts';
import { common, EntryPath, filter } from '../contract.ts';
import { EDGE_TYPES, ENTRY_STATUSES } from '../model.ts';

const GraphQuery = z.object({
  type: z
    .union([z.string().max(100), z.array(z.string().max(100)).max(50)])
    .optional()
    .transform((types) => [types ?? []].flat().filter(Boolean))
    .describe('May be repeated'),
  agent: filter(200),
  status: z.enum(ENTRY_STATUSES).default('active'),
  limit: limit(3_000, 1_500),
});
export type GraphQuery = z.output<typeof GraphQuery>;

const Node = z.object({
  id: z.int(),
  type: z.string(),
  slug: z.string().nullable(),
  name: z.string().nullable(),
  status: z.enum(ENTRY_STATUSES),
});

const Link = z.object({
  edge_type: z.enum(EDGE_TYPES),
  dst_slug: z.string().nullable().describe('As the content names it'),
  dst_id: z.int().nullable(),
  resolved: z.boolean().describe('Whether an entry has that slug'),
  other: Node.nullable().describe('The entry at the other end'),
});

const Graph = z
  .object({
    nodes: z.array(
      Node.extend({
        description: z.string().nullable(),
        agent: z.string().nullable(),
        scope: z.string(),
        always_load: z.boolean(),
      }),
    ),
    edges: z.array(
      z.object({
        source: z.int(),
        target: z.int(),
        dst_slug: z.string().nullable(),
        edge_type: z.enum(EDGE_TYPES),
      }),
    ),
    meta: z.object({
      node_count: z.int(),
      edge_count: z.int(),
      dropped_dangling: z.int().describe('Edges of these nodes that lead to none of them'),
      truncated: z.boolean().describe('There is more than this'),
    }),
  })
  .meta({ id: 'MemoryGraph' });

export const listLinks = endpoint({
  ...common,
  id: 'memory.links',
  method: 'get',
  path: '/v1/memory/entries/{entry_id}/links',
  summary: 'What an entry links to and what links to it',
  params: EntryPath,
  status: 200,
  reply: z.object({ outgoing: z.array(Link), incoming: z.array(Link) }),
  problems: ['not_found'],
});

export const memoryGraph = endpoint({
  ...common,
  id: 'memory.graph',
  method: 'get',
  path: '/v1/memory/graph',
  summary: 'The newest entries and the links between them',
  query: GraphQuery,
  status: 200,
  reply: Graph,
});
