/** Finds runs that are in flight by their rows, of which nobody knows whether anything still works on them. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import { behindOf, makeAllDue, takeDue, type ClaimQueue, type Taken, type Turn } from '../../../platform/db/in-turn.ts';
import { START_AGAIN_MS } from '../../../platform/temporal/starting.ts';
import { askOrRefuse } from './lost-effects.ts';
import { OPEN_RUN } from './statuses.ts';
import { workspaceOf } from '../../workspaces/store/fragments.ts';

export interface CheckedRun {
  id: string;
  workspaceId: string;
  customerId: string;
  agent: string | null;
  turnCount: number;
  /** The owner starts the run and hears of its end: a run whose call waits for it, or the attempt of a step. */
  owner: 'none' | 'there' | 'over';
}

const UNSTARTED: ClaimQueue = {
  table: 'runs',
  at: 'start_due_at',
  open: sql`status = 'queued' and start_due_at is not null`,
};

/** Takes runs, of all workspaces, that were accepted and that nobody knows to be started. */
export const takeUnstarted = (db: Database, turn: Turn): Promise<Taken> => takeDue(db, UNSTARTED, turn, START_AGAIN_MS);

/**
 * @returns those of these that housekeeping should start. A spawned run is its parent's to start, for as long as that
 * one is in flight, and the run of a project's step its phase's.
 */
export const loadUnstarted = (db: Database, ids: readonly string[]) =>
  db.rows<{ id: string; workspaceId: string; customerId: string; agent: string | null }>(sql`
    select r.id, r.customer_id as "customerId", w.identity_workspace_id as "workspaceId", r.agent
    from runs r cross join ${workspaceOf(sql`r.customer_id`)} w
    where r.id = any(${sql.param([...ids])}::text[]) and r.status = 'queued'
      and (r.attempt_id is null or r.parent_run_id is not null)
      and not exists (select 1 from runs p where p.id = r.parent_run_id and p.status in ${OPEN_RUN})
    order by r.seq`);

/** Notes that Temporal has these. Most of them have begun by now, and nothing is written. */
export const noteStarted = (db: Database, ids: readonly string[]) =>
  db.rows(sql`
    update runs set start_due_at = null
    where id = any(${sql.param([...ids])}::text[]) and status = 'queued' and start_due_at is not null`);

const inFlight = (olderThanMs: number): ClaimQueue => ({
  table: 'runs',
  at: 'checked_at',
  lateMs: olderThanMs,
  open: sql`status in ${OPEN_RUN}`,
});

/** Takes runs, of all workspaces, about which Temporal was not asked for that long; they then wait that long again. */
export const takeUnchecked = (db: Database, turn: Turn, olderThanMs: number): Promise<Taken> =>
  takeDue(db, inFlight(olderThanMs), turn, 0);

/** Makes Temporal be asked in the next round about all of them. */
export const askAboutAll = (db: Database, olderThanMs: number) => makeAllDue(db, inFlight(olderThanMs));

export const loadChecked = (db: Database, ids: readonly string[]) =>
  db.rows<CheckedRun>(sql`
    select r.id, r.customer_id as "customerId", w.identity_workspace_id as "workspaceId", r.agent,
      r.turn_count as "turnCount",
      case
        when c.status = 'pending' and p.status in ${OPEN_RUN} then 'there'
        when c.status = 'pending' then 'over'
        when r.parent_run_id is not null or r.attempt_id is null then 'none'
        when a.status in ('pending', 'running') then 'there'
        else 'over'
      end as owner
    from runs r cross join ${workspaceOf(sql`r.customer_id`)} w
    left join runs p on p.id = r.parent_run_id
    left join run_tool_calls c on c.run_id = r.parent_run_id and c.call_id = r.parent_call_id
    left join attempts a on a.id = r.attempt_id
    where r.id = any(${sql.param([...ids])}::text[])`);

/** Tells how far behind housekeeping of runs is, by its chores. */
export const runsBehind = (olderThanMs: number) => ({
  startRuns: behindOf(UNSTARTED),
  settleRuns: behindOf(inFlight(olderThanMs)),
});

/**
 * Serves a run that is started again, and runs that it waits for: calls whose effect may have happened are not made a
 * second time: a person is asked, or the model is told so.
 */
export async function refuseUnknownCalls(db: Database, runId: string): Promise<void> {
  const calls = await db.rows<{ runId: string; callId: string; tool: string }>(sql`
    with recursive family(id) as (
      select ${runId}::text
      union
      select r.id from runs r join family f on r.parent_run_id = f.id where r.status in ${OPEN_RUN}
    )
    select c.run_id as "runId", c.call_id as "callId", c.tool from run_tool_calls c join family f on f.id = c.run_id
    where c.status = 'pending' and c.effect = 'irreversible'`);
  for (const call of calls) await askOrRefuse(db, call);
}
