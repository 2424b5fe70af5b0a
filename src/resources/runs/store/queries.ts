/** Reads of runs. Every query takes the workspace; none joins events, whose summary is on the run's row. */
import { and, asc, count, desc, eq, gte, lt, sql, type SQL } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import { countRows, countsOf, findPage, listFilters } from '../../tallies/store.ts';
import { OPEN_STATUSES, type RunWaitReason } from '../model.ts';
import { runEvents, runs } from '../table.ts';
import { giveBack } from './budgets.ts';
import { OPEN_RUN } from './statuses.ts';

export interface RunWait {
  what: RunWaitReason;
  since: string;
}

export interface RunFilter {
  agent?: string | undefined;
  transport?: string | undefined;
  sinceHours?: number | undefined;
}

/** Tells whether a run was answered from a recorded sample. @param provider the column `model_provider` */
export const isSampleRun = (provider: SQL): SQL<boolean> => sql<boolean>`(${provider} is not distinct from 'sample')`;

/** Filling a cache may have cost more than was read from it: nothing is saved then. @param savedUsd a sum */
export const netSaved = (savedUsd: SQL): SQL => sql`greatest(${savedUsd}, 0)::text`;

/**
 * Tells what a run in flight waits for, if its latest event says that it waits. The events are looked at only where they
 * may say so. @param run the alias of `runs`
 */
export const waitOf = (run: SQL): SQL => sql`
  case when ${run}.status in ${OPEN_RUN} and ${run}.last_event_type = 'claude_request' then (
    select case when e.status = 'waiting'
      then jsonb_build_object('what', e.payload -> 'waits_for', 'since', e.payload -> 'since') end
    from run_events e where e.run_id = ${run}.id and e.customer_id = ${run}.customer_id order by e.id desc limit 1
  ) end`;

const hoursAgo = (hours: number): SQL => sql`now() - make_interval(hours => ${hours})`;

const listColumns = {
  run_id: runs.id,
  parent_run_id: runs.parentRunId,
  agent: runs.agent,
  transport: runs.transport,
  started_at: runs.createdAt,
  last_event_at: runs.lastEventAt,
  last_event_type: runs.lastEventType,
  last_status: sql<string | null>`${runs.status}::text`,
  event_count: runs.eventCount,
  total_cost_usd: runs.costUsd,
  is_priced: runs.isPriced,
  model: runs.model,
  reasoning: runs.reasoning,
  model_tier: runs.modelTier,
  model_rule: runs.modelRule,
  model_enforce: runs.modelEnforce,
  sample: isSampleRun(sql`${runs.modelProvider}`),
};

const chooseRuns = listFilters('runs', runs.customerId, {
  agent: (agent: string) => eq(runs.agent, agent),
  transport: (transport: string) => eq(runs.transport, transport),
});

export async function listRuns(
  db: Database,
  customerId: string,
  { sinceHours, ...filter }: RunFilter,
  { limit, offset }: { limit: number; offset: number },
) {
  const { where: chosen, tallied } = chooseRuns(customerId, filter);
  const where = and(chosen, sinceHours === undefined ? undefined : gte(runs.createdAt, hoursAgo(sinceHours)));
  const page = (more: SQL | undefined, left: number) =>
    db.orm.select(listColumns).from(runs).where(and(where, more)).orderBy(desc(runs.seq)).limit(limit).offset(left);
  if (sinceHours !== undefined) {
    // The count begins at the oldest row of the window: a page that the window does not fill would look for more in all
    // the others.
    const [window] = await db.orm
      .select({ total: count(), from: sql<number>`coalesce(min(${runs.seq}), 0)::float8` })
      .from(runs)
      .where(where);
    return {
      rows: window!.total > offset ? await page(gte(runs.seq, window!.from), offset) : [],
      total: window!.total,
    };
  }
  const start = await findPage(db, tallied, offset);
  const rows = await page(start.below === undefined ? undefined : lt(runs.seq, start.below), start.offset);
  return { rows, total: await countRows(db, tallied) };
}

/**
 * @returns the run as the live registry has it, from which it is gone once it ended longer than the time to live ago
 */
export async function findRun(db: Database, customerId: string, runId: string, ttlMs?: number) {
  const fresh =
    ttlMs === undefined
      ? undefined
      : sql`(${runs.completedAt} is null or ${runs.completedAt} > now() - make_interval(secs => ${ttlMs / 1_000}))`;
  const [run] = await db.orm
    .select()
    .from(runs)
    .where(and(eq(runs.customerId, customerId), eq(runs.id, runId), fresh));
  return run;
}

export async function findWait(db: Database, customerId: string, runId: string): Promise<RunWait | null> {
  const [run] = await db.rows<{ waits_for: RunWait | null }>(
    sql`select ${waitOf(sql`r`)} as waits_for from runs r where r.id = ${runId} and r.customer_id = ${customerId}`,
  );
  return run?.waits_for ?? null;
}

export async function listEvents(db: Database, customerId: string, runId: string, limit: number) {
  return (
    db.orm
      .select({
        id: runEvents.id,
        ts: runEvents.ts,
        event_type: runEvents.eventType,
        agent: runs.agent,
        transport: runs.transport,
        duration_ms: runEvents.durationMs,
        cost_usd: runEvents.costUsd,
        status: runEvents.status,
        payload: runEvents.payload,
      })
      .from(runEvents)
      .innerJoin(runs, eq(runs.id, runEvents.runId))
      .where(and(eq(runEvents.runId, runId), eq(runs.customerId, customerId)))
      // The cost of a call that the end of its run cut off is known after the end, which is the last row all the same.
      .orderBy(sql`${runEvents.key} = 'end'`, asc(runEvents.id))
      .limit(limit)
  );
}

export async function statsOfLastDay(db: Database, customerId: string) {
  const status = (...names: string[]) => sql<number>`(count(*) filter (where ${runs.status}::text in ${names}))::int`;
  const [stats] = await db.orm
    .select({
      runs: count(),
      completed: status('succeeded'),
      failed: status('failed'),
      in_flight: status(...OPEN_STATUSES),
      cost_usd: sql<string>`coalesce(sum(${runs.costUsd}), 0)::text`,
    })
    .from(runs)
    .where(and(eq(runs.customerId, customerId), gte(runs.createdAt, hoursAgo(24))));
  return stats!;
}

export interface CostRow {
  agent: string | null;
  /** Empty in sums over all tiers. */
  tier: string;
  model: string | null;
  cost_usd: string;
  saved_usd: string;
  run_count: number;
}

/**
 * @returns sums by agent, tier and model, dearest first, with the sums above them; Postgres adds them up, so they are
 * exact
 */
export async function costRows(db: Database, customerId: string, windowHours: number) {
  const rows = await db.rows<CostRow & { level: number; since: string }>(sql`
    select agent, coalesce(model_tier, '') as tier, model, coalesce(sum(cost_usd), 0)::text as cost_usd,
      ${netSaved(sql`sum(saved_usd)`)} as saved_usd, count(*)::int as run_count,
      grouping(agent, model_tier, model) as level, ${hoursAgo(windowHours)} as since
    from runs where customer_id = ${customerId} and created_at >= ${hoursAgo(windowHours)}
    group by grouping sets ((), (agent), (agent, model_tier), (agent, model_tier, model))
    order by sum(cost_usd) desc nulls last, agent, tier, model`);
  const at = (level: number) => rows.filter((row) => row.level === level);
  return { total: at(7)[0]!, agents: at(3), tiers: at(1), models: at(0) };
}

/** @returns what an agent did lately, for its detail page */
export async function summarizeAgent(db: Database, customerId: string, agent: string) {
  const [totals] = await db.rows<{ total: number; succeeded: number; failed: number; cost_usd: string }>(sql`
    select coalesce(sum(rows), 0)::float8 as total,
      coalesce(sum(rows) filter (where status = 'succeeded'), 0)::float8 as succeeded,
      coalesce(sum(rows) filter (where status = 'failed'), 0)::float8 as failed, coalesce(sum(usd), 0)::text as cost_usd
    from (
      select dims[2] as status, rows, usd from ${countsOf({ list: 'run_outcomes', customerId, filter: { agent } })} ended
      union all
      select status::text, 1, cost_usd from runs
      where customer_id = ${customerId} and agent = ${agent} and status in ${OPEN_RUN}
    ) counted`);
  const { rows: last } = await listRuns(db, customerId, { agent }, { limit: 10, offset: 0 });
  return { ...totals!, last };
}

/** The run that holds it ended so long ago. */
const IS_FORGOTTEN = sql`r.id = c.run_id and r.completed_at < now() - interval '2 minutes'`;

export const HOLDS_BEHIND = {
  releaseForgotten: sql`(
    select count(*)::int as due,
      coalesce(extract(epoch from now() - interval '2 minutes' - min(r.completed_at)), 0)::float8 as "overdueS"
    from cost_reservations c, runs r where ${IS_FORGOTTEN})`,
};

/**
 * Gives back what runs still hold minutes after their end. A worker hears within seconds that a run was cancelled, so
 * that their calls died with theirs; one that should return all the same is booked without a hold.
 */
export async function releaseForgotten(db: Database): Promise<void> {
  await db.rows(sql`
    with released as (
      delete from cost_reservations c using runs r
      where ${IS_FORGOTTEN} returning c.budget_id, c.amount_usd
    )
    ${giveBack(sql`released`)}`);
}
