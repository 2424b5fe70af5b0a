/** Asks the database about itself, and about the caller. */
import { eq, sql } from 'drizzle-orm';
import { first } from '../../platform/core/present.ts';
import { pausesBehind } from '../../platform/db/circuit.ts';
import { found, type Database } from '../../platform/db/client.ts';
import type { Behind } from '../../platform/db/in-turn.ts';
import type { Backlog, ChoreBehind } from '../../platform/http/metrics.ts';
import { agents, agentSettings } from '../agents/table.ts';
import { ROUTER_BEHIND } from '../billing/model-router/store.ts';
import { SPENDING_BEHIND } from '../cost/notices/store.ts';
import { SUBMISSIONS_BEHIND } from '../miniapps/store.ts';
import { outputDeliveries } from '../output-destinations/table.ts';
import { OUTPUTS_BEHIND } from '../output-destinations/store/index.ts';
import { projectsBehind } from '../projects/store/lost.ts';
import { projects, subtasks } from '../projects/table.ts';
import { runsBehind } from '../runs/store/lost.ts';
import { TEXTS_BEHIND } from '../run-texts/store.ts';
import { HOLDS_BEHIND } from '../runs/store/queries.ts';
import { runs } from '../runs/table.ts';
import { FOLLOWING_BEHIND } from '../scheduled-jobs/store.ts';
import { SEARCH_BEHIND } from '../search/store/backfill.ts';
import { TALLIES_BEHIND } from '../tallies/store.ts';
import { WEBHOOKS_BEHIND } from '../webhook-subscriptions/store/index.ts';
import { webhookDeliveries } from '../webhook-subscriptions/table.ts';
import type { Plan } from '../workspaces/model.ts';
import { workspaces } from '../workspaces/table.ts';
import { OPEN_RUN } from '../runs/store/statuses.ts';
import { GOING_PROJECT } from '../projects/store/statuses.ts';

export type SystemStore = ReturnType<typeof createSystemStore>;

/** Workspaces are few, each with one row: what is due of them is counted as it is. */
const provisionings = (status: 'pending' | 'provisioning') => sql`(
  select count(*)::int as due, coalesce(greatest(0, extract(epoch from now() - min(due_at))), 0)::float8 as "overdueS"
  from ${workspaces} where status = ${sql.raw(`'${status}'`)} and due_at <= now())`;

/** @param lostAfterMs work may be under way for this long before Temporal is asked whether it still has it */
export const createSystemStore = (db: Database, { lostAfterMs }: { lostAfterMs: number }) => ({
  /** The models that agents of a workspace name, as they are defined or as it set them. */
  async modelsNamed(customerId: string): Promise<string[]> {
    const named = await db.rows<{ model: string | null }>(sql`
      select model from ${agents} where customer_id = ${customerId}
      union
      select unnest(array[model, default_model]) from ${agentSettings} where customer_id = ${customerId}
      order by 1`);
    return named.flatMap(({ model }) => (model && model !== 'auto' ? [model] : []));
  },

  async ping(): Promise<void> {
    await db.rows(sql`select 1`);
  },

  /**
   * Counts the backlog of the whole deployment. Each part has an index of its own, so that what is done costs nothing;
   * gates are found by the projects that are under way.
   */
  backlog: (): Promise<Backlog[]> =>
    db.rows<Backlog>(sql`
      with open(kind, status, created_at) as (
        select 'run', status::text, created_at from ${runs} where status in ${OPEN_RUN}
        union all
        select 'project', status::text, created_at from ${projects} where status in ${GOING_PROJECT}
        union all
        select 'webhook_delivery', status::text, created_at from ${webhookDeliveries} where status = 'pending'
        union all
        select 'output_delivery', status::text, created_at from ${outputDeliveries} where status = 'pending'
        union all
        select 'gate', s.gate_kind::text, s.started_at
        from ${projects} p join ${subtasks} s on s.project_id = p.id
        where p.status in ${GOING_PROJECT} and s.status = 'blocked' and s.gate_kind is not null
      )
      select kind, status, count(*)::int as count,
        extract(epoch from now() - min(created_at))::float8 as "oldestS"
      from open group by kind, status`),

  /** Counts what each chore of housekeeping that looks after rows has not done yet. */
  async choresBehind(): Promise<ChoreBehind[]> {
    const chores = {
      ...runsBehind(lostAfterMs),
      ...projectsBehind(lostAfterMs),
      ...WEBHOOKS_BEHIND,
      ...OUTPUTS_BEHIND,
      ...SUBMISSIONS_BEHIND,
      ...ROUTER_BEHIND,
      ...TALLIES_BEHIND,
      ...SEARCH_BEHIND,
      ...SPENDING_BEHIND,
      ...HOLDS_BEHIND,
      ...TEXTS_BEHIND,
      ...FOLLOWING_BEHIND,
      tellPauses: pausesBehind(['webhook_subscriptions', 'output_destinations']),
      startWorkspaces: provisionings('pending'),
      settleWorkspaces: provisionings('provisioning'),
    };
    return Promise.all(
      Object.entries(chores).map(async ([chore, behind]) => {
        const row = first(await db.rows<Behind>(sql`select due, "overdueS" from ${behind} behind`));
        return { chore, ...row };
      }),
    );
  },

  /** @throws Problem not_found */
  async planOf(customerId: string): Promise<{ plan: Plan; inForce: Plan }> {
    const [row] = await db.orm
      .select({ plan: workspaces.plan, inForce: workspaces.planInForce })
      .from(workspaces)
      .where(eq(workspaces.customerId, customerId));
    return found(row);
  },
});
