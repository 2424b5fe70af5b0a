/**
 * What a link in a skill means changes with the tools of the workspace: `[[slug]]` is a use for as long as there is a
 * tool of that slug, else a dependency. So whoever makes or deletes a custom tool goes through this.
 */
import { sql } from 'drizzle-orm';
import type { Database } from '../../platform/db/client.ts';
import { lockGraph } from '../memory/store/edges.ts';
import type { ToolStore } from '../tools/store.ts';

/** The store of tools, keeping the links of skills true. */
export const withSkillLinks = (db: Database, tools: ToolStore): ToolStore => ({
  ...tools,

  /** In a transaction of the caller's that holds the graph's lock, which is that of the cap. */
  async insert(customerId, slug, tool) {
    await tools.insert(customerId, slug, tool);
    await db.rows(sql`
      update memory_edges set edge_type = 'uses_tool', dst_id = null
      where customer_id = ${customerId} and dst_slug = ${slug} and edge_type = 'depends_on'`);
  },

  delete: (customerId, slug) =>
    db.transaction(async () => {
      await lockGraph(db, customerId);
      const isDeleted = await tools.delete(customerId, slug);
      if (isDeleted) {
        await db.rows(sql`
          update memory_edges set edge_type = 'depends_on',
            dst_id = (select id from memory_entries where customer_id = ${customerId} and slug = ${slug})
          where customer_id = ${customerId} and dst_slug = ${slug} and edge_type = 'uses_tool'`);
      }
      return isDeleted;
    }),
});
