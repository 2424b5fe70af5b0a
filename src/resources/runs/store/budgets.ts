/**
 * Money is held before it is spent. Before a model call its worst-case cost is reserved against every budget the run
 * counts against, in one statement, all or none; when the true cost is known the hold is released and the cost booked.
 * A wallet is held like a budget, and charged in the ledger instead of booked.
 *
 * Rows of several budgets are locked in the order of their ids, everywhere: otherwise two runs could wait for each other.
 */
import { sql, type SQL } from 'drizzle-orm';
import { first, present } from '../../../platform/core/present.ts';
import type { Database } from '../../../platform/db/client.ts';
import { capIdOf } from '../../cost/caps/model.ts';
import { USD_MICROS, walletBudgetId } from '../../billing/model.ts';
import { insertPosting, type Posting } from '../../billing/wallet/store.ts';

/** @param period `month` or `day`; where it is null, so is its start */
export const periodStart = (period: SQL): SQL => sql`date_trunc(${period}, now() at time zone 'utc')`;
/** What a cap spent in an earlier period counts no more. @param budget the name of the row */
export const spentInPeriod = (budget: SQL): SQL =>
  sql`case when ${budget}.period_start is not distinct from ${periodStart(sql`${budget}.period`)}::date then ${budget}.spent_usd else 0 end`;

export interface Reservation {
  runId: string;
  turn: number;
  budgetIds: readonly string[];
  amountUsd: string;
  /** Set where the workspace is charged. */
  wallet?: { customerId: string; micros: number } | undefined;
}

/**
 * Idempotent for a run, turn and budget. A budget without a limit is never short; a wallet that nothing was ever put
 * into is empty. What a call holds is known even if nothing limits it yet: where no budget of it exists, the workspace's
 * cap a month is opened without a limit.
 * A smaller amount that an earlier attempt of the turn held is all that the budget has for it.
 * @returns every budget that has too little left, the one with the least first; none when all have enough and the amount
 * is held
 */
export async function reserve(db: Database, reservation: Reservation): Promise<Short[]> {
  if (reservation.budgetIds.length === 0 && !reservation.wallet) return [];
  const { short, isHeld } = await tryToReserve(db, reservation);
  if (isHeld) return [];
  if (short.length === 0) await openCap(db, reservation);
  // What another attempt of this turn held while the statement waited for the budgets is seen only by a second one.
  return (await tryToReserve(db, reservation)).short;
}

/** It is a statement of its own: two that lock budgets and make this row as well could wait for each other. */
async function openCap(db: Database, { runId, budgetIds }: Reservation): Promise<void> {
  const id = budgetIds.find((each) => capIdOf(each) === 'workspace.month');
  if (id === undefined) return;
  await db.rows(sql`
    insert into budgets (id, customer_id, period) select ${id}, customer_id, 'month' from runs where id = ${runId}
    on conflict (id) do nothing`);
}

export interface Short {
  budgetId: string;
  freeUsd: string;
  /** Of this budget, for the call. */
  needsUsd: string;
}

async function tryToReserve(
  db: Database,
  { runId, turn, budgetIds, amountUsd, wallet }: Reservation,
): Promise<{ short: Short[]; isHeld: boolean }> {
  const walletId = wallet && walletBudgetId(wallet.customerId);
  const ids = sql`${sql.param([...budgetIds, ...(walletId ? [walletId] : [])])}::text[]`;
  const amountOf = (id: SQL) =>
    wallet
      ? sql`case ${id} when ${walletId} then ${wallet.micros}::numeric / ${USD_MICROS} else ${amountUsd}::numeric end`
      : sql`${amountUsd}::numeric`;
  const amount = amountOf(sql`id`);
  return first(
    await db.rows<{ short: Short[]; isHeld: boolean }>(sql`
    with held as (
      select id, limit_usd - ${spentInPeriod(sql`budgets`)} - reserved_usd as free from budgets where id = any(${ids}) order by id for update
    ), before as (
      select budget_id, amount_usd from cost_reservations where run_id = ${runId} and turn = ${turn}
    ), short as (
      select id, free from held where free < ${amount} and id not in (select budget_id from before)
      union all select budget_id, amount_usd from before where amount_usd < ${amountOf(sql`budget_id`)}
      ${wallet ? sql`union all select ${walletId}, 0 where not exists (select 1 from held where id = ${walletId})` : sql``}
    ), raised as (
      update budgets set reserved_usd = reserved_usd + ${amount}
      where id in (select id from held) and not exists (select 1 from short) and id not in (select budget_id from before)
      returning id
    ), noted as (
      insert into cost_reservations (run_id, turn, budget_id, amount_usd)
      select ${runId}, ${turn}, id, ${amount} from raised
      returning budget_id
    )
    select (select coalesce(jsonb_agg(jsonb_build_object('budgetId', id, 'freeUsd', trim_scale(free)::text,
        'needsUsd', trim_scale(${amount})::text) order by free, id), '[]') from short) as short,
      not exists (select 1 from short) and exists (select 1 from noted union all select 1 from before) as "isHeld"`),
  );
}

/** A turn moves this in the wallet of its workspace: the hold, and the charge of the call, if there is one. */
export interface WalletBooking {
  customerId: string;
  charge: Posting | undefined;
}

/**
 * CTEs for the statement that records a call: gives back what it held and books what it cost, if the CTE `moved` has a
 * row. All of it hangs on that one row, which a statement that is repeated (its commit was carried out, and the answer
 * was lost) does not find again.
 */
export const bookCost = (
  moved: SQL,
  { id, budgetIds, attemptId }: { id: string; budgetIds: readonly string[]; attemptId: string | null },
  turn: number,
  costUsd: string | null,
  wallet?: WalletBooking,
): SQL => {
  const walletId = wallet && walletBudgetId(wallet.customerId);
  const ids = sql`${sql.param([...budgetIds, ...(walletId ? [walletId] : [])])}::text[]`;
  const cost = sql`${costUsd ?? '0'}::numeric`;
  const isMoved = sql`exists (select 1 from ${moved})`;
  return sql`
  released as (
    delete from cost_reservations where run_id = ${id} and turn = ${turn} and ${isMoved} returning budget_id, amount_usd
  ), due as (
    select id from budgets where id = any(${ids}) and ${isMoved} order by id for update
  ), booked as (
    update budgets b set period_start = ${periodStart(sql`b.period`)}::date, spent_usd = ${spentInPeriod(sql`b`)} + ${wallet ? sql`case b.id when ${walletId} then 0 else ${cost} end` : cost},
      reserved_usd = b.reserved_usd - coalesce((select amount_usd from released r where r.budget_id = b.id), 0)
    from due where b.id = due.id returning b.id
  )${wallet?.charge ? sql`, charged as (${insertPosting(chargedAfter(present(walletId)), wallet.charge)})` : sql``}${
    attemptId === null
      ? sql``
      : sql`, attempt as (update attempts set cost_usd = cost_usd + ${cost} where id = ${attemptId}::uuid and ${isMoved})`
  }`;
};

// The trigger of the ledger updates the wallet's row as well, which may happen after this statement's own update and
// not before.
const chargedAfter = (walletId: string): SQL => sql`(select 1 from booked where id = ${walletId})`;

/** Gives back what is still held for calls that never came to a reply. */
export async function release(db: Database, runId: string): Promise<void> {
  await db.rows(sql`
    with released as (
      delete from cost_reservations where run_id = ${runId} returning budget_id, amount_usd
    )
    ${giveBack(sql`released`)}`);
}

interface NewLimit {
  /** The id of the cap's row. */
  id: string;
  customerId: string;
  limitUsd: string;
  /** Unset: as it was. */
  alertAt: readonly number[] | undefined;
  /** A condition on the run `r`. */
  concerns: SQL;
}

/**
 * Sets the limit of a cap, within a transaction. A cap that had none begins with what is spent of its period, and with
 * what calls under way hold elsewhere. Its row exists already, so that each call counts against it from the first lock
 * on; a call that did not see it has ended with its statement when the lock is given.
 */
export async function setLimit(db: Database, { id, customerId, limitUsd, alertAt, concerns }: NewLimit): Promise<void> {
  await db.rows(sql`lock table cost_reservations in share row exclusive mode`);
  const isNew = sql`exists (select 1 from budgets where id = ${id} and limit_usd is null)`;
  await db.rows(sql`
    with under_way as (
      insert into cost_reservations (run_id, turn, budget_id, amount_usd)
      select c.run_id, c.turn, ${id}, max(c.amount_usd) from cost_reservations c join runs r on r.id = c.run_id
      where r.customer_id = ${customerId} and ${concerns} and c.budget_id not like 'wallet:%' and ${isNew}
      group by c.run_id, c.turn
      on conflict do nothing
      returning amount_usd
    ), spent as (
      select coalesce(sum(r.cost_usd), 0) as usd from runs r, budgets b
      where b.id = ${id} and r.customer_id = ${customerId} and ${concerns}
        and r.created_at >= ${periodStart(sql`b.period`)} at time zone 'utc'
    )
    update budgets b set limit_usd = ${limitUsd}::numeric,
      alert_at = coalesce(${alertAt === undefined ? null : sql.param([...alertAt])}::int[], b.alert_at),
      reserved_usd = b.reserved_usd + coalesce((select sum(amount_usd) from under_way), 0),
      spent_usd = case when b.limit_usd is null then spent.usd else b.spent_usd end,
      period_start = case when b.limit_usd is null then ${periodStart(sql`b.period`)}::date else b.period_start end
    from spent where b.id = ${id}`);
}

/** An `update` that gives back the rows of the CTE `released`, which is the first of its statement. */
export const giveBack = (released: SQL): SQL => sql`
  , sums as (
    select budget_id, sum(amount_usd) as amount_usd from ${released} group by budget_id
  ), due as (
    select id from budgets where id in (select budget_id from sums) order by id for update
  )
  update budgets b set reserved_usd = b.reserved_usd - s.amount_usd from sums s, due
  where b.id = due.id and s.budget_id = b.id`;
