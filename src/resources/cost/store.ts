/** Sums over the runs of a window. Postgres adds them up, so they are exact. */
import { sql, type SQL } from 'drizzle-orm';
import { present } from '../../platform/core/present.ts';
import type { Database } from '../../platform/db/client.ts';
import { netSaved } from '../runs/store/queries.ts';
import type { CostGroup } from './model.ts';

export type CostStore = ReturnType<typeof createCostStore>;

interface CostRow {
  key: string | null;
  cost_usd: string;
  saved_usd: string;
  run_count: number;
  input_tokens: number;
  output_tokens: number;
  unpriced_runs: number;
}

const KEYS: Record<CostGroup, SQL> = {
  agent: sql`r.agent`,
  model: sql`r.model`,
  // The project of a step's run, and of runs that it spawned.
  project: sql`(select a.project_id from attempts a where a.id = r.attempt_id and a.customer_id = r.customer_id)`,
  day: sql`to_char(r.created_at at time zone 'UTC', 'YYYY-MM-DD')`,
};

export const createCostStore = (db: Database) => ({
  /** Window and sums are those of `GET /v1/runs/costs`. The index `runs_by_time` serves it. */
  async rollup(customerId: string, windowHours: number, group: CostGroup) {
    const since = sql`now() - make_interval(hours => ${windowHours})`;
    const all = await db.rows<CostRow & { is_total: boolean; since: string }>(sql`
      select key, coalesce(sum(cost_usd), 0)::text as cost_usd, ${netSaved(sql`sum(saved_usd)`)} as saved_usd, count(*)::int as run_count,
        coalesce(sum(input_tokens), 0)::float8 as input_tokens, coalesce(sum(output_tokens), 0)::float8 as output_tokens,
        (count(*) filter (where not is_priced))::int as unpriced_runs,
        grouping(key) = 1 as is_total, ${since} as since
      from (
        select ${KEYS[group]} as key, r.cost_usd, r.saved_usd, r.input_tokens, r.output_tokens, r.is_priced
        from runs r where r.customer_id = ${customerId} and r.created_at >= ${since}
      ) counted
      group by grouping sets ((), (key))
      order by ${group === 'day' ? sql`key` : sql`sum(cost_usd) desc, key`}`);
    return { total: present(all.find(({ is_total }) => is_total)), rows: all.filter(({ is_total }) => !is_total) };
  },

  /** @returns what each day cost since four weeks ago, or the beginning of the month, the oldest first; days without a run are not there */
  dailySpend: (customerId: string) =>
    db.rows<{ day: string; usd: number; unpriced: number }>(sql`
      select to_char(r.created_at at time zone 'utc', 'YYYY-MM-DD') as day, sum(r.cost_usd)::float8 as usd,
        (count(*) filter (where not r.is_priced))::int as unpriced
      from runs r
      where r.customer_id = ${customerId} and r.created_at >= (date_trunc('day', now() at time zone 'utc') - interval '28 days') at time zone 'utc'
      group by 1 order by 1`),

  async monthSpend(customerId: string) {
    const [row] = await db.rows<{
      today: string;
      month: string;
      until: string;
      spent: string;
      first: string | null;
    }>(sql`
      select to_char(now() at time zone 'utc', 'YYYY-MM-DD') as today, to_char(now() at time zone 'utc', 'YYYY-MM') as month,
        (date_trunc('month', now() at time zone 'utc') + interval '1 month') at time zone 'utc' as until,
        (select coalesce(sum(r.cost_usd), 0)::text from runs r where r.customer_id = ${customerId}
          and r.created_at >= date_trunc('month', now() at time zone 'utc') at time zone 'utc') as spent,
        (select to_char(r.created_at at time zone 'utc', 'YYYY-MM-DD') from runs r where r.customer_id = ${customerId}
          order by r.created_at limit 1) as first`);
    return present(row);
  },
});
