/** Statements on what is to be told of spending. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import { MOST_ATTEMPTS, type SpendingTopic } from './model.ts';

export type SpendingNoticeStore = ReturnType<typeof createSpendingNoticeStore>;

export interface SpendingNotice {
  id: string;
  customerId: string;
  key: string;
  topic: SpendingTopic;
  capId: string | null;
  threshold: number | null;
  spentUsd: string | null;
  limitUsd: string | null;
  runId: string | null;
  toldTo: string[];
}

const IS_DUE = sql`told_at is null and due_at <= now()`;

export const SPENDING_BEHIND = {
  tellSpending: sql`(
    select count(*)::int as due, coalesce(extract(epoch from now() - min(due_at)), 0)::float8 as "overdueS"
    from spending_notices where ${IS_DUE})`,
};

export const createSpendingNoticeStore = (db: Database) => ({
  /** Takes what is due; whoever dies with it leaves it due again after a time that grows with each attempt. */
  takeDue: (limit: number): Promise<SpendingNotice[]> =>
    db.rows<SpendingNotice>(sql`
      with due as materialized (
        select customer_id, key from spending_notices where ${IS_DUE} order by due_at limit ${limit} for update skip locked
      )
      update spending_notices n set attempts = n.attempts + 1, due_at = now() + interval '30 seconds' * power(2, least(n.attempts, 10))
      from due where n.customer_id = due.customer_id and n.key = due.key
      returning n.id::text as id, n.customer_id as "customerId", n.key, n.topic, n.cap_id as "capId", n.threshold,
        trim_scale(n.spent_usd)::text as "spentUsd", trim_scale(n.limit_usd)::text as "limitUsd", n.run_id as "runId", n.told_to as "toldTo"`),

  async recordTold({ customerId, key }: SpendingNotice, who: string): Promise<void> {
    await db.rows(sql`
      update spending_notices set told_to = told_to || ${who}::text where customer_id = ${customerId} and key = ${key}`);
  },

  /** @param areAll everybody has been told; otherwise it is tried again, unless that was tried often enough */
  async finish({ customerId, key }: SpendingNotice, areAll: boolean): Promise<void> {
    await db.rows(sql`
      update spending_notices set told_at = now()
      where customer_id = ${customerId} and key = ${key} and (${areAll} or attempts >= ${MOST_ATTEMPTS})`);
  },
});
