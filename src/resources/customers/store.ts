/** Workspaces with what is theirs, counted as the caps of plans count it. Only those of one page are looked at. */
import { sql } from 'drizzle-orm';
import { first } from '../../platform/core/present.ts';
import type { Database } from '../../platform/db/client.ts';
import { USD_MICROS } from '../billing/model.ts';
import { membersOf } from '../members/store/fragments.ts';
import { SKILL } from '../memory/model.ts';
import { countsOf } from '../tallies/store.ts';
import type { Plan } from '../workspaces/model.ts';
import type { workspaces } from '../workspaces/table.ts';
import { containing } from './model.ts';
import { agentCount } from '../agents/store.ts';
import { usableKeys } from '../api-keys/store.ts';
import { toolCount } from '../tools/store.ts';

export type CustomerStore = ReturnType<typeof createCustomerStore>;

export interface CustomerFilter {
  /** A part of the id. */
  q?: string | undefined;
  plan?: Plan | undefined;
}

type Workspace = Pick<
  typeof workspaces.$inferSelect,
  'customerId' | 'identityWorkspaceId' | 'plan' | 'planInForce' | 'status'
>;

export interface CustomerRow extends Workspace {
  members: number;
  /** Counted since 00:00 UTC, as where a plan caps them. */
  cappedRunsToday: number;
  runsToday: number;
  runs30d: number;
  cost30d: string;
  createdAt: string;
  readyAt: string | null;
  archivedAt: string | null;
  lastActivityAt: string | null;
  apiKeys: number;
  agents: number;
  tools: number;
  skills: number;
  memories: number;
  /** Millionths of a US dollar. */
  balance: number;
}

export const createCustomerStore = (db: Database) => ({
  /** @param customerId shows this workspace alone */
  async list(
    customerId: string | undefined,
    { q, plan }: CustomerFilter,
    { limit, offset }: { limit: number; offset: number },
  ): Promise<{ rows: CustomerRow[]; total: number }> {
    const where = sql`
      where ${customerId === undefined ? sql`true` : sql`customer_id = ${customerId}`}
        and ${plan === undefined ? sql`true` : sql`plan = ${plan}`}
        and ${q === undefined ? sql`true` : sql`(customer_id ilike ${containing(q)} or identity_workspace_id ilike ${containing(q)})`}`;
    const rows = await db.rows<CustomerRow>(sql`
      with page as (
        select * from workspaces ${where} order by created_at desc, customer_id desc limit ${limit} offset ${offset}
      )
      select w.customer_id as "customerId", w.identity_workspace_id as "identityWorkspaceId", w.plan, w.plan_in_force as "planInForce", w.status,
        w.created_at as "createdAt", w.ready_at as "readyAt", w.archived_at as "archivedAt",
        (select count(*)::int from ${membersOf(sql`w.customer_id`)} m) as members,
        coalesce((select u.used from usage_counters u where u.customer_id = w.customer_id
          and u.resource = 'runs_per_day' and u.day = to_char(now() at time zone 'utc', 'YYYY-MM-DD')), 0)
          as "cappedRunsToday",
        spent.today as "runsToday", spent.runs as "runs30d", spent.cost as "cost30d",
        (select r.last_event_at from runs r where r.customer_id = w.customer_id order by r.seq desc limit 1)
          as "lastActivityAt",
        ${usableKeys(sql`w.customer_id`)} as "apiKeys",
        ${agentCount(sql`w.customer_id`)} as agents,
        ${toolCount(sql`w.customer_id`)} as tools,
        memory.skills, memory.entries as memories,
        coalesce((select (b.limit_usd * ${USD_MICROS})::float8 from budgets b where b.id = 'wallet:' || w.customer_id), 0)
          as balance
      from page w
      cross join lateral (
        select count(*)::int as runs, coalesce(sum(r.cost_usd), 0)::text as cost,
          (count(*) filter (where r.created_at >= date_trunc('day', now(), 'UTC')))::int as today
        from runs r where r.customer_id = w.customer_id and r.created_at >= now() - interval '720 hours'
      ) spent
      cross join lateral (
        select coalesce(sum(c.rows) filter (where c.dims[2] = ${SKILL}), 0)::float8 as skills,
          coalesce(sum(c.rows) filter (where c.dims[2] <> ${SKILL}), 0)::float8 as entries
        from ${countsOf({ list: 'memory_entries', customerId: sql`w.customer_id` })} c
      ) memory
      order by w.created_at desc, w.customer_id desc`);
    const counted = first(
      await db.rows<{ total: number }>(sql`select count(*)::int as total from workspaces ${where}`),
    );
    return { rows, total: counted.total };
  },
});
