/** Queries on custom tools and on what is known of the use of any tool. Every one takes the workspace. */
import { and, asc, desc, eq, getTableColumns, inArray, ne, sql, type SQL } from 'drizzle-orm';
import type { SecretBox } from '../../platform/core/crypto.ts';
import { parseJson } from '../../platform/core/json.ts';
import { Problem } from '../../platform/core/problem.ts';
import { found, type Database } from '../../platform/db/client.ts';
import { inBatches } from '../../platform/db/in-batches.ts';
import { SKILL } from '../memory/model.ts';
import { lockGraph } from '../memory/store/edges.ts';
import { memoryEdges, memoryEntries } from '../memory/table.ts';
import { runs, runToolCalls } from '../runs/table.ts';
import type { CustomTool } from './model.ts';
import { tools } from './table.ts';

export type ToolStore = ReturnType<typeof createToolStore>;
/** Whoever writes a tool decides these. */
export type ToolDefinition = Omit<CustomTool, 'customerId' | 'slug' | 'id' | 'version'>;

const MAX_INVOCATIONS = 50;
/** Arguments with more bytes are not read, as a preview is not worth it. */
const MAX_PREVIEWED_BYTES = 16_384;

const isTool = (customerId: string, slug: string) => and(eq(tools.customerId, customerId), eq(tools.slug, slug));
/** @returns the owner that a tool's body is sealed for */
export const secretOwner = (customerId: string, slug: string): string => `${customerId}/tools/${slug}`;

const { sealedBody: _sealed, createdAt: _created, updatedAt: _updated, ...OUTLINE } = getTableColumns(tools);

export const createToolStore = (db: Database, secretBox: SecretBox) => {
  const seal = (customerId: string, slug: string, body: CustomTool['body']) =>
    secretBox.seal(JSON.stringify(body), secretOwner(customerId, slug));
  const opened = ({ sealedBody, ...row }: typeof tools.$inferSelect): CustomTool => ({
    ...row,
    body: parseJson(secretBox.open(sealedBody, secretOwner(row.customerId, row.slug))) as CustomTool['body'],
  });

  return {
    findForAgents: async (customerId: string, slugs: readonly string[]): Promise<CustomTool[]> =>
      (
        await inBatches([...new Set(slugs)], (batch) =>
          db.orm
            .select()
            .from(tools)
            .where(and(eq(tools.customerId, customerId), inArray(tools.slug, batch), ne(tools.access, 'human'))),
        )
      ).map(opened),

    /** Lists tools by slug, without their bodies. */
    list: (customerId: string): Promise<Omit<CustomTool, 'body'>[]> =>
      db.orm.select(OUTLINE).from(tools).where(eq(tools.customerId, customerId)).orderBy(asc(tools.slug)),

    async find(customerId: string, slug: string): Promise<CustomTool | undefined> {
      const [row] = await db.orm.select().from(tools).where(isTool(customerId, slug));
      return row && opened(row);
    },

    count: (customerId: string): Promise<number> => db.orm.$count(tools, eq(tools.customerId, customerId)),

    /**
     * Inside `underCap`, whose lock is that of the graph too: skills that name the slug already declare the tool then.
     * @throws Problem slug_taken
     */
    async insert(customerId: string, slug: string, { body, ...tool }: ToolDefinition): Promise<void> {
      const inserted = await db.orm
        .insert(tools)
        .values({ ...tool, customerId, slug, sealedBody: seal(customerId, slug, body) })
        .onConflictDoNothing()
        .returning({ slug: tools.slug });
      if (inserted.length === 0) throw new Problem('slug_taken');
      await db.rows(sql`
        update memory_edges set edge_type = 'uses_tool', dst_id = null
        where customer_id = ${customerId} and dst_slug = ${slug} and edge_type = 'depends_on'`);
    },

    /**
     * Changes a tool under a lock, so that what is checked is what is written: a body must fit the schema that stands
     * beside it.
     * @param decide makes the whole new definition of the present one; it may query, in the same transaction
     * @throws Problem not_found, or what `decide` throws
     */
    async change(
      customerId: string,
      slug: string,
      decide: (tool: CustomTool) => ToolDefinition | Promise<ToolDefinition>,
    ): Promise<void> {
      await db.transaction(async () => {
        const [row] = await db.orm.select().from(tools).where(isTool(customerId, slug)).for('update');
        const { body, ...tool } = await decide(opened(found(row)));
        await db.orm
          .update(tools)
          .set({
            ...tool,
            sealedBody: seal(customerId, slug, body),
            version: sql`${tools.version} + 1`,
            updatedAt: sql`now()`,
          })
          .where(isTool(customerId, slug));
      });
    },

    /**
     * Whatever named the tool names a skill from now on, where one has its slug.
     * @returns false where the tool does not exist
     */
    delete: (customerId: string, slug: string): Promise<boolean> =>
      db.transaction(async () => {
        await lockGraph(db, customerId);
        const deleted = await db.orm.delete(tools).where(isTool(customerId, slug)).returning({ slug: tools.slug });
        if (deleted.length === 0) return false;
        await db.rows(sql`
          update memory_edges set edge_type = 'depends_on', dst_id = (
            select id from memory_entries where customer_id = ${customerId} and slug = ${slug})
          where customer_id = ${customerId} and dst_slug = ${slug} and edge_type = 'uses_tool'`);
        return true;
      }),

    /**
     * @returns how many active skills of the workspace declare each tool, by slug; for one tool, or for all that are
     * declared
     */
    async countUses(customerId: string, slug?: string): Promise<Map<string, number>> {
      const rows = await db.orm
        .select({ slug: memoryEdges.dstSlug, uses: sql<number>`count(distinct ${memoryEdges.srcId})::int` })
        .from(memoryEdges)
        .innerJoin(memoryEntries, eq(memoryEntries.id, memoryEdges.srcId))
        .where(
          and(
            eq(memoryEdges.customerId, customerId),
            eq(memoryEdges.edgeType, 'uses_tool'),
            slug === undefined ? undefined : eq(memoryEdges.dstSlug, slug),
            eq(memoryEntries.customerId, customerId),
            eq(memoryEntries.type, SKILL),
            eq(memoryEntries.status, 'active'),
          ),
        )
        .groupBy(memoryEdges.dstSlug);
      return new Map(rows.flatMap(({ slug: tool, uses }) => (tool === null ? [] : [[tool, uses]])));
    },

    /** Lists calls, the newest first. Arguments of more than 16 KB are left out. */
    listInvocations: (customerId: string, slug: string) =>
      db.orm
        .select({
          runId: runToolCalls.runId,
          callId: runToolCalls.callId,
          createdAt: runToolCalls.createdAt,
          agent: runs.agent,
          transport: runs.transport,
          arguments: sql<unknown>`case when octet_length(${runToolCalls.arguments}::text) <= ${MAX_PREVIEWED_BYTES} then ${runToolCalls.arguments} end`,
        })
        .from(runToolCalls)
        .innerJoin(runs, eq(runs.id, runToolCalls.runId))
        .where(
          and(eq(runToolCalls.customerId, customerId), eq(runToolCalls.tool, slug), eq(runs.customerId, customerId)),
        )
        .orderBy(desc(runToolCalls.createdAt), desc(runToolCalls.runId), desc(runToolCalls.position))
        .limit(MAX_INVOCATIONS),
  };
};

/** Selects `name` and `created_at` of the tools of a workspace. */
export const namedTools = (customerId: string): SQL =>
  sql`select slug as name, created_at from tools where customer_id = ${customerId}`;

/** Counts the tools of a workspace, for a statement of others. */
export const toolCount = (customerId: SQL): SQL =>
  sql`(select count(*)::int from tools counted where counted.customer_id = ${customerId})`;
