/** Parts of statements of other resources that ask something of runs. */
import { sql, type SQL } from 'drizzle-orm';

/** All runs that are recorded, with `id` and `customer_id`, to be joined. */
export const RECORDED_RUNS: SQL = sql`(select id, customer_id from runs)`;
