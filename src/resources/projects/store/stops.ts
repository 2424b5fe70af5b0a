/** Reads which limits stop a project that paused for want of money, as they are now, and raises them. */
import { sql, type SQL } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import { walletBudgetId } from '../../billing/model.ts';
import { budgetsOf } from '../../cost/caps/model.ts';
import { spentInPeriod } from '../../runs/store/budgets.ts';
import { requireRaise, type Stop } from '../stops/model.ts';
import type { LockedProject } from './record.ts';

type ProjectRef = Pick<LockedProject, 'id' | 'customerId'>;

/** @returns what the timeline of an attempt's run tells of the limits that stopped it */
export async function limitsThatStopped(db: Database, { runId }: { runId: string | null }) {
  const [row] = await db.rows<{ facts: Record<string, unknown> }>(sql`
    select jsonb_strip_nulls(jsonb_build_object('needs_usd', payload -> 'needs_usd', 'charge_usd', payload -> 'charge_usd',
      'limits', payload -> 'limits')) as facts
    from run_events where run_id = ${runId} and event_type = 'claude_request' and payload ? 'limits'
    order by id desc limit 1`);
  return row?.facts;
}

interface StoppedCall {
  agent: string | null;
  budgetIds: string[];
  needsUsd: string;
  /** Of the wallet; null where it is not charged. */
  chargeUsd: string | null;
}

/** The calls of steps that have waited since the project last went on. */
const stoppedCalls = (db: Database, { id, customerId }: ProjectRef): Promise<StoppedCall[]> =>
  db.rows<StoppedCall>(sql`
    select r.agent, r.budget_ids as "budgetIds", coalesce(s.stop ->> 'needs_usd', '0') as "needsUsd",
      s.stop ->> 'charge_usd' as "chargeUsd"
    from subtasks s join runs r on r.id = s.stop ->> 'run_id' and r.customer_id = s.customer_id
    where s.project_id = ${id} and s.customer_id = ${customerId} and s.status = 'pending' and s.stop is not null`);

/** A part of a statement: keeps what stopped a step until the project goes on, however old the event of it becomes. */
export const keepStop = (
  subtaskId: string,
  runId: string | null,
  facts: Record<string, unknown> | undefined,
): SQL => sql`
  update subtasks set stop = ${runId === null ? null : JSON.stringify({ ...facts, limits: undefined, run_id: runId })}::jsonb
  where id = ${subtaskId}::uuid`;

/** A part of a statement: nothing stops a project that goes on. */
export const forgetStops = (projectId: string): SQL => sql`
  update subtasks set stop = null where project_id = ${projectId} and stop is not null`;

/** All of them count, also one that was set or used up since: a raise that leaves one out would stop the project again. */
async function needsOf(db: Database, project: ProjectRef): Promise<{ id: string; usd: string }[]> {
  const { customerId } = project;
  const calls = await stoppedCalls(db, project);
  return calls.flatMap(({ needsUsd, chargeUsd, ...spender }) => [
    ...budgetsOf({ customerId, ...spender }).map((id) => ({ id, usd: needsUsd })),
    ...(chargeUsd === null ? [] : [{ id: walletBudgetId(customerId), usd: chargeUsd }]),
  ]);
}

/** @returns the limits that have less left than what waits for them needs, as they are at this moment */
export const loadStops = async (db: Database, project: ProjectRef): Promise<Stop[]> =>
  stopsAmong(db, project, await needsOf(db, project));

/** A wallet that nothing was ever put into has no row, and is empty. */
const stopsAmong = (
  db: Database,
  { id, customerId }: ProjectRef,
  needs: readonly { id: string; usd: string }[],
): Promise<Stop[]> =>
  db.rows<Stop>(sql`
    with needed as (
      select n.id, sum(n.usd::numeric) as usd from jsonb_to_recordset(${JSON.stringify(needs)}::jsonb) as n(id text, usd text)
      group by n.id
    ), limits as (
      select n.id, n.usd, coalesce(b.limit_usd, 0) as "limit", coalesce(${spentInPeriod(sql`b`)}, 0) as spent,
        coalesce(b.reserved_usd, 0) as held
      from needed n left join budgets b on b.id = n.id and b.customer_id = ${customerId}
      where b.limit_usd is not null or (b.id is null and n.id = ${walletBudgetId(customerId)})
    )
    select l.id as "budgetId", t.phase_slug as "phaseSlug", trim_scale("limit")::text as "limitUsd",
      trim_scale(spent)::text as "spentUsd", trim_scale(held)::text as "heldUsd", trim_scale("limit" - spent - held)::text as "freeUsd",
      trim_scale(usd)::text as "needsUsd", trim_scale(ceil((usd - ("limit" - spent - held)) * 1e8) / 1e8)::text as "missingUsd"
    from limits l left join tasks t
      on l.id = 'task:' || t.id and t.customer_id = ${customerId} and t.project_id = ${id}
    where "limit" - spent - held < usd
    order by l.id not like 'project:%', l.id not like 'task:%', l.id`);

/**
 * Raises each limit that stops the project, and no other.
 * @returns what it raised
 * @throws Problem bad_request, nothing_to_raise, insufficient_credit, admin_required, and has raised none then
 */
export async function raiseStops(
  db: Database,
  project: LockedProject,
  { byUsd, mayRaiseCaps }: { byUsd: string; mayRaiseCaps: boolean },
): Promise<Stop[]> {
  const { id, customerId } = project;
  const needs = await needsOf(db, project);
  // Nobody spends of them, or raises them for another project, between the look and the raise.
  await db.rows(sql`
    select id from budgets where id = any(${sql.param(needs.map((each) => each.id))}::text[]) and customer_id = ${customerId}
    order by id for update`);
  const stops = await stopsAmong(db, project, needs);
  requireRaise(stops, byUsd, mayRaiseCaps);
  const ids = sql`${sql.param(stops.map(({ budgetId }) => budgetId))}::text[]`;
  await db.rows(sql`
    with raised as (
      update projects set cost_budget_usd = cost_budget_usd + ${byUsd}::numeric, is_cost_warned = false
      where id = ${id} and customer_id = ${customerId} and 'project:' || id = any(${ids})
    ), phases as (
      update tasks set cost_budget_usd = cost_budget_usd + ${byUsd}::numeric
      where project_id = ${id} and customer_id = ${customerId} and 'task:' || id = any(${ids})
    )
    update budgets set limit_usd = limit_usd + ${byUsd}::numeric where customer_id = ${customerId} and id = any(${ids})`);
  return stops;
}
