/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { sql, type SQL } from 'drizzle-orm';
import { STORAGE_KEY, SAME_TENANT, rowsOfParent, type TenantData } from '../../platform/db/tenant-data.ts';

export const runsData: TenantData = {
  runs: {
    end: { goes: 'before made again', batch: 100, statement: deleteRuns },
    archive: {
      columns:
        'id seq parent_run_id parent_call_id depth agent transport prompt thread_id channel_id conversation override output_schema status output error error_code model model_provider context_window reasoning model_tier model_rule model_enforce turn_count input_tokens output_tokens cost_usd saved_usd is_priced budget_ids attempt_id job_n step event_count last_event_at last_event_type created_at started_at completed_at',
      without: {
        ...SAME_TENANT,
        start_due_at: 'when housekeeping of this deployment looks at it',
        checked_at: 'when housekeeping of this deployment looked at it',
      },
      order: 'seq',
    },
  },
  run_messages: {
    end: { goesWith: 'runs' },
    archive: {
      columns: 'run_id turn role content',
      without: {},
      from: rowsOfParent('runs', 'run_messages', sql`t.run_id = p.id`),
    },
  },
  run_tool_calls: {
    end: { goesWith: 'runs' },
    archive: {
      columns: 'run_id call_id turn position tool arguments effect status result lost_at created_at completed_at',
      without: SAME_TENANT,
    },
  },
  run_events: {
    end: { goesWith: 'runs' },
    archive: {
      columns: 'id run_id key ts event_type duration_ms cost_usd status payload tx seq',
      without: SAME_TENANT,
      order: 'tx seq',
    },
  },
  run_artifacts: {
    end: { goesWith: 'runs' },
    archive: {
      columns: 'id run_id call_id agent filename content_type size_bytes sha256 created_at',
      without: { ...SAME_TENANT, file_key: STORAGE_KEY },
      file: { key: 'file_key', row: 'id' },
    },
    atDestruction: {
      step: 'files',
      statement: (customerId) => sql`delete from run_artifacts where customer_id = ${customerId}`,
    },
  },
  budgets: {
    // All budgets but the wallet's, which the ledger keeps: most go with their runs and projects, and caps here.
    end: { goes: 'before made again', statement: deleteCaps },
    archive: { columns: 'id limit_usd spent_usd reserved_usd period alert_at period_start', without: SAME_TENANT },
  },
  cost_reservations: {
    end: { goesWith: 'runs' },
    archive: { left: 'money that is held while a turn is under way' },
  },
  usage_counters: {
    end: { stays: 'what a plan allows in a day is not had twice by making a workspace again' },
    archive: { left: 'what a plan allows in a day' },
  },
};

function deleteCaps(customerId: string, limit: number): SQL {
  return sql`
    delete from budgets where customer_id = ${customerId} and id = any(array(
      select id from budgets where customer_id = ${customerId} and period is not null limit ${limit}))
    returning 1`;
}

/** A run's budget has no reference to the run, so it is deleted here. */
function deleteRuns(customerId: string, limit: number): SQL {
  return sql`
    with gone as (
      delete from runs where customer_id = ${customerId}
        and id = any(array(select id from runs where customer_id = ${customerId} limit ${limit}))
      returning id
    ), unlimited as (
      delete from budgets where customer_id = ${customerId} and id in (select 'run:' || id from gone))
    select 1 from gone`;
}
