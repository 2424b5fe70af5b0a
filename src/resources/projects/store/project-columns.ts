/** The columns of a project `p` in the shape in which it is sent. */
import { sql, type SQL } from 'drizzle-orm';
import { isSampleRun } from '../../runs/store/queries.ts';

export const spentOf = (budgetId: SQL): SQL =>
  sql`coalesce((select b.spent_usd from budgets b where b.id = ${budgetId}), 0)::text`;

/** Tells of a project `p` whether any of its steps was answered from a recorded sample. */
export const HAS_SAMPLE_CONTENT = sql`(p.is_sample and exists (
  select 1 from attempts x join runs r on r.id = x.child_run_id
  where x.project_id = p.id and ${isSampleRun(sql`r.model_provider`)}))`;

/**
 * Tells whether the price of every model call of these attempts was known, also of the runs that theirs spawned.
 * @param attempts a condition on the attempts `x`
 */
export const isPriced = (attempts: SQL): SQL => sql`not exists (
  with recursive family as (
    select r.id, r.is_priced from attempts x join runs r on r.id = x.child_run_id where ${attempts}
    union all
    select r.id, r.is_priced from family f join runs r on r.parent_run_id = f.id and r.parent_call_id is not null
  ) select 1 from family where not is_priced)`;

// This selects a value and not `exists`, for which a plan may read every task of every project at once.
export const PROJECT = sql`
  p.id, p.title, p.workflow_slug, p.workflow_version, p.status, p.pause_reason,
  coalesce((select true from tasks t where t.project_id = p.id and t.status = 'stale' limit 1), false) as has_stale_phases,
  p.brief, p.params, 'internal' as owner_kind, p.customer_id as owner_id, p.auth_mode, null as anthropic_workspace_id,
  p.cost_budget_usd, round(p.cost_warning_threshold, 2)::text as cost_warning_threshold,
  ${spentOf(sql`'project:' || p.id`)} as cost_total_usd, ${isPriced(sql`x.project_id = p.id`)} as is_priced, p.cost_burst_per_minute_usd,
  ${HAS_SAMPLE_CONTENT} as sample, p.created_at, p.started_at, p.completed_at, p.abandoned_at`;
