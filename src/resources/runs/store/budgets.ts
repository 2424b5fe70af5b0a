/**
 * Money is held before it is spent. Before a model call its worst-case cost is reserved against every budget the run
 * counts against, in one statement, all or none; when the true cost is known the hold is released and the cost booked.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';

export interface Reservation {
  runId: string;
  turn: number;
  budgetIds: readonly string[];
  amountUsd: string;
}

/**
 * Idempotent for a run and turn. A budget without a limit is never short.
 * @returns the budget that has too little left, or undefined when all have enough and the amount is held
 */
export async function reserve(
  db: Database,
  { runId, turn, budgetIds, amountUsd }: Reservation,
): Promise<{ budgetId: string; freeUsd: string } | undefined> {
  if (budgetIds.length === 0) return undefined;
  const ids = sql`${sql.param([...budgetIds])}::text[]`;
  const [outcome] = await db.rows<{ short: { budgetId: string; freeUsd: string } | null }>(sql`
    with held as (
      select id, limit_usd - spent_usd - reserved_usd as free from budgets where id = any(${ids}) order by id for update
    ), before as (
      select 1 from cost_reservations where run_id = ${runId} and turn = ${turn}
    ), short as (
      select id, free from held where free < ${amountUsd}::numeric and not exists (select 1 from before)
    ), raised as (
      update budgets set reserved_usd = reserved_usd + ${amountUsd}::numeric
      where id in (select id from held) and not exists (select 1 from short) and not exists (select 1 from before)
      returning id
    ), noted as (
      insert into cost_reservations (run_id, turn, budget_id, amount_usd)
      select ${runId}, ${turn}, id, ${amountUsd}::numeric from raised
    )
    select (select jsonb_build_object('budgetId', id, 'freeUsd', free::text) from short order by free limit 1) as short`);
  return outcome?.short ?? undefined;
}

/**
 * CTEs for the statement that records a turn: gives back what it held and books what it cost. A call that outlived its
 * cancelled run is booked too: the money is gone.
 */
export const bookCost = (
  { id, budgetIds, attemptId }: { id: string; budgetIds: readonly string[]; attemptId: string | null },
  turn: number,
  costUsd: string | null,
): SQL => sql`
  released as (
    delete from cost_reservations where run_id = ${id} and turn = ${turn} returning budget_id, amount_usd
  ), booked as (
    update budgets b set spent_usd = b.spent_usd + ${costUsd ?? '0'}::numeric,
      reserved_usd = b.reserved_usd - coalesce((select amount_usd from released r where r.budget_id = b.id), 0)
    where b.id = any(${sql.param([...budgetIds])}::text[])
  )${
    attemptId === null
      ? sql``
      : sql`, attempt as (
    update attempts set cost_usd = cost_usd + ${costUsd ?? '0'}::numeric where id = ${attemptId}::uuid
  )`
  }`;

/** Gives back what calls that never came to a reply still hold. */
export async function release(db: Database, runId: string): Promise<void> {
  await db.rows(sql`
    with released as (
      delete from cost_reservations where run_id = ${runId} returning budget_id, amount_usd
    ), sums as (
      select budget_id, sum(amount_usd) as amount_usd from released group by budget_id
    )
    update budgets b set reserved_usd = b.reserved_usd - r.amount_usd from sums r where b.id = r.budget_id`);
}
