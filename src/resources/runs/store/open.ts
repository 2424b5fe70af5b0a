/** Finds runs that have not ended. */
import { sql, type SQL } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import { OPEN_RUN } from './statuses.ts';

export const listOpenRuns = (db: Database, customerId: string, limit: number): Promise<{ id: string }[]> =>
  db.rows<{ id: string }>(sql`
    select id from runs where customer_id = ${customerId} and status in ${OPEN_RUN} order by id limit ${limit}`);

/** Counts the runs of an agent that have not ended. */
export const countOpenRunsBy = (customerId: string, agent: string): SQL => sql`
  select count(*)::int as count from runs
  where customer_id = ${customerId} and agent = ${agent} and status in ${OPEN_RUN}`;

/** Selects `kind`, `status` and `created_at` of all runs of the deployment that have not ended. */
export const OPEN_RUNS: SQL = sql`select 'run', status::text, created_at from runs where status in ${OPEN_RUN}`;
