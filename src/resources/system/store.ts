/** What is asked of the database about itself, and about who asks. */
import { eq, sql } from 'drizzle-orm';
import { found, type Database } from '../../platform/db/client.ts';
import type { Backlog } from '../../platform/http/metrics.ts';
import { outputDeliveries } from '../output-destinations/table.ts';
import { projects, subtasks } from '../projects/table.ts';
import { runs } from '../runs/table.ts';
import { webhookDeliveries } from '../webhook-subscriptions/table.ts';
import type { Plan } from '../workspaces/model.ts';
import { workspaces } from '../workspaces/table.ts';

export type SystemStore = ReturnType<typeof createSystemStore>;

export const createSystemStore = (db: Database) => ({
  async ping(): Promise<void> {
    await db.rows(sql`select 1`);
  },

  /**
   * Of the whole deployment. Each part has an index of its own, so that what is done costs nothing; gates are found by
   * the projects that are under way.
   */
  backlog: (): Promise<Backlog[]> =>
    db.rows<Backlog>(sql`
      with open(kind, status, created_at) as (
        select 'run', status::text, created_at from ${runs} where status in ('queued', 'running')
        union all
        select 'project', status::text, created_at from ${projects} where status in ('planning', 'active')
        union all
        select 'webhook_delivery', status::text, created_at from ${webhookDeliveries} where status = 'pending'
        union all
        select 'output_delivery', status::text, created_at from ${outputDeliveries} where status = 'pending'
        union all
        select 'gate', s.gate_kind::text, s.started_at
        from ${projects} p join ${subtasks} s on s.project_id = p.id
        where p.status in ('planning', 'active') and s.status = 'blocked' and s.gate_kind is not null
      )
      select kind, status, count(*)::int as count,
        extract(epoch from now() - min(created_at))::float8 as "oldestS"
      from open group by kind, status`),

  /** @throws Problem not_found */
  async planOf(customerId: string): Promise<Plan> {
    const [row] = await db.orm
      .select({ plan: workspaces.plan })
      .from(workspaces)
      .where(eq(workspaces.customerId, customerId));
    return found(row).plan;
  },
});
