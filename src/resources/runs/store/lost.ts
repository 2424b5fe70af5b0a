/** Runs in flight by their rows, of which nobody knows whether anything still works on them. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import { OUTCOME_UNKNOWN } from '../model.ts';
import { refuseToolCall } from './tool-calls.ts';

export interface CheckedRun {
  id: string;
  workspaceId: string;
  customerId: string;
  agent: string | null;
  turnCount: number;
  /** Who has it started and hears of its end: a run whose call waits for it, or the attempt of a step. */
  owner: 'none' | 'there' | 'over';
}

/** Takes the ones that were not asked about for that long, over all workspaces; they are then young again. */
export const claimUnchecked = (db: Database, olderThanMs: number, limit: number) =>
  db.rows<CheckedRun>(sql`
    with claimed as (
      update runs set checked_at = now() where id in (
        select id from runs
        where status in ('queued', 'running') and checked_at < now() - make_interval(secs => ${olderThanMs / 1_000})
        order by checked_at limit ${limit} for update skip locked)
      returning id, customer_id, agent, turn_count, parent_run_id, parent_call_id, attempt_id
    )
    select r.id, r.customer_id as "customerId", w.identity_workspace_id as "workspaceId", r.agent,
      r.turn_count as "turnCount",
      case
        when c.status = 'pending' and p.status in ('queued', 'running') then 'there'
        when c.status = 'pending' then 'over'
        when r.parent_run_id is not null or r.attempt_id is null then 'none'
        when a.status in ('pending', 'running') then 'there'
        else 'over'
      end as owner
    from claimed r join workspaces w on w.customer_id = r.customer_id
    left join runs p on p.id = r.parent_run_id
    left join run_tool_calls c on c.run_id = r.parent_run_id and c.call_id = r.parent_call_id
    left join attempts a on a.id = r.attempt_id`);

/**
 * Of a run that is started again, and of those that it waits for: calls whose effect may have happened are not made a
 * second time, and the model is told so.
 */
export async function refuseUnknownCalls(db: Database, runId: string): Promise<void> {
  const calls = await db.rows<{ runId: string; callId: string; tool: string }>(sql`
    with recursive family(id) as (
      select ${runId}::text
      union
      select r.id from runs r join family f on r.parent_run_id = f.id where r.status in ('queued', 'running')
    )
    select c.run_id as "runId", c.call_id as "callId", c.tool from run_tool_calls c join family f on f.id = c.run_id
    where c.status = 'pending' and c.effect = 'irreversible'`);
  for (const call of calls) await refuseToolCall(db, call, OUTCOME_UNKNOWN);
}
