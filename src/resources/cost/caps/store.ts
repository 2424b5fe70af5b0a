/** Rows of caps, which are budgets with a period. What they have spent in an earlier period counts no more. */
import { sql, type SQL } from 'drizzle-orm';
import { present } from '../../../platform/core/present.ts';
import type { Database } from '../../../platform/db/client.ts';
import { periodStart, setLimit, spentInPeriod } from '../../runs/store/budgets.ts';
import { capBudgetId, capOf, type Cap } from './model.ts';
import { isKey } from '../../api-keys/store.ts';

export type CapStore = ReturnType<typeof createCapStore>;

export interface CapRow {
  /** The id of the budget. */
  id: string;
  limitUsd: string;
  spentUsd: string;
  reservedUsd: string;
  /** Null: the usual ones. */
  alertAt: number[] | null;
  since: string;
  until: string;
}

const columns = sql`
  b.id, b.limit_usd::text as "limitUsd", ${spentInPeriod(sql`b`)}::text as "spentUsd", b.reserved_usd::text as "reservedUsd",
  b.alert_at as "alertAt",
  ${periodStart(sql`b.period`)} at time zone 'utc' as since,
  (${periodStart(sql`b.period`)} + ('1 ' || b.period)::interval) at time zone 'utc' as until`;

export const createCapStore = (db: Database) => ({
  list: (customerId: string): Promise<CapRow[]> =>
    db.rows<CapRow>(sql`
      select ${columns} from budgets b
      where b.customer_id = ${customerId} and b.period is not null and b.limit_usd is not null
      order by b.id`),

  /** A new cap begins with what the runs of its period that were accepted since have cost, and what calls now hold. */
  async set(customerId: string, capId: string, limitUsd: string, alertAt?: readonly number[]): Promise<CapRow> {
    const cap = capOf(capId);
    const id = capBudgetId(customerId, capId);
    // It is committed first: calls count against the row from now on.
    await db.rows(sql`
      insert into budgets (id, customer_id, period) values (${id}, ${customerId}, ${cap.period}) on conflict (id) do nothing`);
    return db.transaction(async () => {
      await setLimit(db, { id, customerId, limitUsd, alertAt, concerns: concerns(id, cap) });
      const [row] = await db.rows<CapRow>(sql`select ${columns} from budgets b where b.id = ${id}`);
      return present(row);
    });
  },

  /** The row stays without a limit, as calls that are under way give back there what they hold. */
  async remove(customerId: string, capId: string): Promise<boolean> {
    const gone = await db.rows(sql`
      update budgets set limit_usd = null
      where customer_id = ${customerId} and id = ${capBudgetId(customerId, capId)} and limit_usd is not null
      returning id`);
    return gone.length > 0;
  },

  hasKey: (customerId: string, keyId: string): Promise<boolean> => isKey(db, customerId, keyId),
});

const concerns = (budgetId: string, { scope, of }: Cap): SQL => {
  if (scope === 'workspace') return sql`true`;
  return scope === 'agent' ? sql`r.agent = ${of}` : sql`${budgetId} = any(r.budget_ids)`;
};
