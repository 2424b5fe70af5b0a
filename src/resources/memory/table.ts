import { sql } from 'drizzle-orm';
import {
  boolean,
  check,
  index,
  integer,
  jsonb,
  pgEnum,
  pgTable,
  text,
  uniqueIndex,
  type AnyPgColumn,
} from 'drizzle-orm/pg-core';
import { createdAt, instant } from '../../platform/db/columns.ts';
import { PACKAGED } from '../../platform/models/embed-packaged.ts';
import { workspaces } from '../workspaces/table.ts';
import { embeddingColumn } from './embedding-column.ts';
import { EDGE_TYPES, ENTRY_STATUSES } from './model.ts';

export const memoryStatus = pgEnum('memory_status', ENTRY_STATUSES);
export const memoryEdgeType = pgEnum('memory_edge_type', EDGE_TYPES);

/**
 * Parameters of the graph that an index of vectors is. It is denser than by default (64), which found 96% of what is
 * nearest, not 99%.
 */
export const HNSW = { m: 16, ef_construction: 128 };

/** The memories and custom skills of a workspace. */
export const memoryEntries = pgTable(
  'memory_entries',
  {
    id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
    customerId: text('customer_id')
      .notNull()
      .references(() => workspaces.customerId),
    type: text('type').notNull(),
    /** Wikilinks name the entry by it. */
    slug: text('slug'),
    name: text('name'),
    description: text('description'),
    /** The text; of a skill its body. */
    content: text('content').notNull(),
    /** The agent whose it is; null for everybody's. */
    agent: text('agent'),
    scope: text('scope').notNull().default('shared'),
    sourceAttribution: text('source_attribution'),
    /** The tool call that wrote the entry, where one did: repeated, it writes once. */
    callKey: text('call_key'),
    status: memoryStatus('status').notNull().default('active'),
    alwaysLoad: boolean('always_load').notNull().default(false),
    lastVerifiedAt: instant('last_verified_at'),
    meta: jsonb('meta').$type<Record<string, unknown>>(),
    /** Set for skills alone: as it was given, otherwise it is derived from the slug on reading. */
    category: text('category'),
    /** Set for skills alone: the agents that can load it; empty for all. */
    agents: text('agents').array().notNull().default([]),
    /** The vector has unit length. */
    embedding: embeddingColumn('embedding', { dimensions: PACKAGED.dimensions }),
    hitCount: integer('hit_count').notNull().default(0),
    impressionCount: integer('impression_count').notNull().default(0),
    lastHitAt: instant('last_hit_at'),
    createdAt: createdAt(),
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  (t) => [
    uniqueIndex('memory_entries_by_slug')
      .on(t.customerId, t.slug)
      .where(sql`${t.slug} is not null`),
    uniqueIndex('memory_entries_by_call')
      .on(t.customerId, t.callKey)
      .where(sql`${t.callKey} is not null`),
    // It serves the skills of a workspace, which are listed, and looked at when a run begins.
    index('memory_entries_skills')
      .on(t.customerId, t.slug)
      .where(sql`${t.type} = 'skill'`),
    // It serves the list without a question, newest first.
    index('memory_entries_newest').on(t.customerId, t.createdAt, t.id),
    index('memory_entries_by_agent').on(t.customerId, t.agent, t.createdAt, t.id),
    index('memory_entries_by_type').on(t.customerId, t.type, t.createdAt, t.id),
    // It serves the export of memories that are marked to be in files.
    index('memory_entries_in_files')
      .on(t.customerId, t.slug)
      .where(sql`(${t.meta} ->> 'in_files') = 'true'`),
    // It finds what every run is reminded of.
    index('memory_entries_always_loaded')
      .on(t.customerId, t.id)
      .where(sql`${t.alwaysLoad}`),
    // It serves the search of a workspace with many entries; a small one is compared exactly.
    index('memory_entries_by_embedding').using('hnsw', t.embedding.op('vector_cosine_ops')).with(HNSW),
    check(
      'memory_entries_skill_has_slug',
      sql`${t.type} <> 'skill' or (${t.slug} is not null and ${t.name} is not null)`,
    ),
  ],
);

/** An edge leads from an entry to what its content names, or to what it took the place of. */
export const memoryEdges = pgTable(
  'memory_edges',
  {
    id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
    customerId: text('customer_id').notNull(),
    srcId: integer('src_id')
      .notNull()
      .references(() => memoryEntries.id, { onDelete: 'cascade' }),
    edgeType: memoryEdgeType('edge_type').notNull(),
    /** The slug as written in the content; a tool's slug for `uses_tool`. */
    dstSlug: text('dst_slug'),
    /** Null for as long as no entry has that slug. */
    dstId: integer('dst_id').references((): AnyPgColumn => memoryEntries.id, { onDelete: 'set null' }),
  },
  (t) => [
    uniqueIndex('memory_edges_once')
      .on(t.srcId, t.edgeType, t.dstSlug)
      .where(sql`${t.dstSlug} is not null`),
    // It finds edges that come in to an entry, which its deletion has to unlink.
    index('memory_edges_by_destination').on(t.dstId),
    // It finds edges that wait for a slug to appear, and who uses a tool or a skill.
    index('memory_edges_by_slug').on(t.customerId, t.dstSlug),
  ],
);
