/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { sql, type SQL } from 'drizzle-orm';
import { SAME_TENANT, rowsOfParent, type TenantData } from '../../platform/db/tenant-data.ts';

export const projectsData: TenantData = {
  projects: {
    end: { goes: 'before made again', batch: 20, statement: deleteProjects },
    archive: {
      columns:
        'id seq title is_titled workflow_slug workflow_version status pause_reason paused_at brief params auth_mode started_by is_sample cost_budget_usd cost_warning_threshold is_cost_warned cost_burst_per_minute_usd completions created_at started_at completed_at abandoned_at',
      without: {
        ...SAME_TENANT,
        start_due_at: 'when housekeeping of this deployment looks at it',
        checked_at: 'when housekeeping of this deployment looked at it',
      },
      order: 'seq',
    },
  },
  tasks: {
    end: { goesWith: 'projects' },
    archive: {
      columns:
        'id project_id position phase_slug title task_kind status depends_on cascade_on_upstream_change artifact_schema_slug artifact_json_schema artifact_step_slug iteration next_reason addenda on_end spared_for outdated_by cost_budget_usd instruction cascade_mode created_at started_at completed_at',
      without: SAME_TENANT,
    },
  },
  subtasks: {
    end: { goesWith: 'projects' },
    archive: {
      columns:
        'id project_id task_id position step_slug title kind role status assignee instructions tools skills depends_on output_schema effort max_attempts timeout_s gate_kind gate_config gate_output consumed answered_by feedback addendum next_reason attempts_used crashes expiries is_outcome_unknown error stop created_at started_at completed_at',
      without: SAME_TENANT,
    },
  },
  attempts: {
    end: { goesWith: 'projects' },
    archive: {
      columns:
        'id project_id task_id subtask_id attempt_number attempt_reason queued_by status dispatch_key output output_validated error is_crashed cost_usd child_run_id consumed created_at started_at completed_at',
      without: SAME_TENANT,
    },
  },
  artifacts: {
    end: { goesWith: 'projects' },
    archive: {
      columns:
        'id project_id task_id phase_slug version schema_slug content produced_by_subtask_id produced_by_attempt_id produced_via changed_by superseded supersedes_artifact_id superseded_by_artifact_id created_at',
      without: SAME_TENANT,
    },
  },
  project_commands: {
    end: { goesWith: 'projects' },
    archive: {
      columns: 'project_id command_id args result created_at',
      without: {},
      from: rowsOfParent('projects', 'project_commands', sql`t.project_id = p.id`),
    },
  },
};

/** Budgets of projects and phases have no reference to them either. */
function deleteProjects(customerId: string, limit: number): SQL {
  return sql`
    with chosen as materialized (select id from projects where customer_id = ${customerId} limit ${limit}),
    unlimited as (
      delete from budgets where customer_id = ${customerId} and id in (
        select 'project:' || id from chosen
        union all select 'task:' || t.id from tasks t where t.customer_id = ${customerId} and t.project_id in (select id from chosen))
    ), gone as (delete from projects where customer_id = ${customerId} and id in (select id from chosen) returning 1)
    select 1 from gone`;
}
