/** Statements on what is to be told of spending. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import { MOST_ATTEMPTS, SURGE, USUAL, type SpendingTopic } from './model.ts';
import { insertLogEvent } from '../../event-log/store/write.ts';
import { EACH_WORKSPACE } from '../../workspaces/store/fragments.ts';

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

/** What a notice says, whoever is told of it. */
export type StandingNotice = Pick<
  SpendingNotice,
  'topic' | 'capId' | 'threshold' | 'spentUsd' | 'limitUsd' | 'runId'
> & { at: Date };

const IS_DUE = sql`told_at is null and due_at <= now()`;

export const SPENDING_BEHIND = {
  tellSpending: sql`(
    select count(*)::int as due, coalesce(extract(epoch from now() - min(due_at)), 0)::float8 as "overdueS"
    from spending_notices where ${IS_DUE})`,
};

export const createSpendingNoticeStore = (db: Database) => ({
  /**
   * Notes which workspaces have spent several times what is usual in the last hour, each once a day. A run counts to the hour in which
   * it was accepted, and `limit_usd` of such a notice is what is usual. The index `runs_by_time` serves both sums.
   */
  async noteSurges(): Promise<void> {
    await db.rows(sql`
      with surged as materialized (
        select w.customer_id, recent.usd, recent.run_id, usual.usd as usual
        from ${EACH_WORKSPACE} w
        cross join lateral (
          select sum(r.cost_usd) as usd, (array_agg(r.id order by r.cost_usd desc))[1] as run_id
          from runs r where r.customer_id = w.customer_id and r.created_at >= now() - interval '1 hour'
        ) recent
        cross join lateral (
          select avg(hours.usd) as usd, count(*) as hours from (
            select sum(r.cost_usd) as usd from runs r
            where r.customer_id = w.customer_id and r.created_at < now() - interval '1 hour'
              and r.created_at >= now() - make_interval(days => ${USUAL.days}) and recent.usd >= ${SURGE.leastUsd}
            group by date_trunc('hour', r.created_at) having sum(r.cost_usd) > 0
          ) hours
        ) usual
        where w.status = 'ready' and recent.usd >= ${SURGE.leastUsd} and usual.hours >= ${USUAL.leastHours}
          and recent.usd > ${SURGE.times} * usual.usd
      ), noted as (
        insert into spending_notices (customer_id, key, topic, spent_usd, limit_usd, run_id)
        select customer_id, 'surge/' || (now() at time zone 'utc')::date, 'surge', usd, round(usual, 8), run_id from surged
        on conflict do nothing
        returning customer_id, spent_usd, limit_usd, run_id
      )
      ${insertLogEvent(sql`noted`, {
        kind: 'spending',
        topic: 'surge',
        subject: sql`guard.run_id`,
        customerId: sql`guard.customer_id`,
        runId: sql`guard.run_id`,
        payload: sql`jsonb_build_object('spent_usd', trim_scale(guard.spent_usd)::text,
          'usual_usd', trim_scale(guard.limit_usd)::text)`,
      })}`);
  },

  /**
   * @returns what was told and is still so: of each cap the highest threshold that is crossed in this period and by this limit, and
   * what else was noted within a day; the newest first
   */
  standing: async (customerId: string): Promise<StandingNotice[]> => {
    const rows = await db.rows<Omit<StandingNotice, 'at'> & { at: string }>(sql`
      select * from (
        select distinct on (n.topic, n.cap_id) n.topic, n.cap_id as "capId", n.threshold, trim_scale(n.spent_usd)::text as "spentUsd",
          trim_scale(n.limit_usd)::text as "limitUsd", n.run_id as "runId", n.created_at as at
        from spending_notices n left join budgets b on b.id = 'cap:' || n.customer_id || ':' || n.cap_id and b.customer_id = n.customer_id
        where n.customer_id = ${customerId} and case n.topic
          when 'threshold' then n.limit_usd = b.limit_usd and n.period_start = date_trunc(b.period, now() at time zone 'utc')::date
          else n.created_at > now() - interval '1 day' end
        order by n.topic, n.cap_id, n.threshold desc, n.created_at desc
      ) told order by at desc`);
    return rows.map((row) => ({ ...row, at: new Date(row.at) }));
  },

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
