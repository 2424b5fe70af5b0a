/** Reads what phases took and cost, here and in earlier projects. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import type { CascadePhase } from '../backtracking/cascade.ts';

export type OutlookStore = ReturnType<typeof createOutlookStore>;

interface PhaseRow extends CascadePhase {
  title: string;
  startedAt: string | null;
  completedAt: string | null;
  waitedMs: number;
}

interface CostsRow {
  slug: string;
  ownUsd: number | null;
  earlierUsd: number[];
  agentsUsd: (number | null)[];
}

/** So many completed projects of the same workflow are looked at, newest first, and so many runs of an agent. */
const PROJECTS = sql.raw('20');
const RUNS = sql.raw('20');

export const createOutlookStore = (db: Database) => ({
  /** @returns the phases in pipeline order, without edit sessions; none for an unknown project */
  phases: (customerId: string, projectId: string) =>
    db.rows<PhaseRow>(sql`
      select t.phase_slug as slug, t.title, t.depends_on as "dependsOn", t.status, t.cascade_on_upstream_change as mode,
        t.started_at as "startedAt", t.completed_at as "completedAt",
        coalesce((
          select sum(extract(epoch from coalesce(s.completed_at, now()) - greatest(s.started_at, t.started_at)) * 1000)
          from subtasks s where s.task_id = t.id and s.customer_id = t.customer_id and s.kind = 'gate'
            and s.started_at is not null and s.status <> 'pending'
            and coalesce(s.completed_at, now()) > greatest(s.started_at, t.started_at)), 0)::float8 as "waitedMs"
      from tasks t where t.customer_id = ${customerId} and t.project_id = ${projectId} and t.task_kind = 'regular'
      order by t.position`),

  /** @returns for each phase, US dollars of its last run here, in earlier projects, and of its agents' recent runs */
  costs: (customerId: string, projectId: string, slugs: readonly string[]) =>
    db.rows<CostsRow>(sql`
      with wanted as (
        select t.id, t.phase_slug, t.started_at, t.completed_at, t.position from tasks t
        where t.customer_id = ${customerId} and t.project_id = ${projectId} and t.task_kind = 'regular'
          and t.phase_slug = any(${sql.param([...slugs])}::text[])
      ), earlier as (
        select p.id from projects p
        where p.customer_id = ${customerId} and p.status = 'completed' and p.id <> ${projectId} and p.workflow_slug = (
          select workflow_slug from projects where id = ${projectId} and customer_id = ${customerId})
        order by p.seq desc limit ${PROJECTS}
      )
      select w.phase_slug as slug,
        (select sum(a.cost_usd) from attempts a where a.task_id = w.id and a.customer_id = ${customerId}
          and w.completed_at is not null and coalesce(a.started_at, a.created_at) >= w.started_at)::float8 as "ownUsd",
        coalesce((
          select jsonb_agg(cost.usd) from earlier e
            join tasks t on t.project_id = e.id and t.customer_id = ${customerId} and t.phase_slug = w.phase_slug
            cross join lateral (
              select coalesce(sum(a.cost_usd), 0) as usd from attempts a
              where a.task_id = t.id and a.customer_id = ${customerId}
                and coalesce(a.started_at, a.created_at) >= t.started_at) cost
          where t.status in ('succeeded', 'stale')), '[]') as "earlierUsd",
        coalesce((
          select jsonb_agg((
            select avg(recent.cost_usd) filter (where recent.status = 'succeeded') from (
              select r.cost_usd, r.status from runs r where r.customer_id = ${customerId} and r.agent = s.assignee
              order by r.seq desc limit ${RUNS}) recent))
          from subtasks s
          where s.task_id = w.id and s.customer_id = ${customerId} and s.kind = 'agent'), '[]') as "agentsUsd"
      from wanted w order by w.position`),

  async budgetLeft(customerId: string, projectId: string): Promise<string | null> {
    const [row] = await db.rows<{ usd: string | null }>(sql`
      select greatest(0, limit_usd - spent_usd - reserved_usd)::text as usd from budgets
      where limit_usd is not null and id = ${`project:${projectId}`} and customer_id = ${customerId}`);
    return row?.usd ?? null;
  },
});
