/** Tells what the runs of the day before (UTC) came to. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';

export interface AgentYesterday {
  agent: string;
  runs: number;
  succeeded: number;
  failed: number;
  cost_usd: string;
}
export interface FailureYesterday {
  run_id: string;
  agent: string | null;
  error: string;
}

const TODAY = sql`date_trunc('day', now(), 'UTC')`;
const YESTERDAY = sql`created_at >= ${TODAY} - interval '1 day' and created_at < ${TODAY}`;

/** @returns them by agent, the busiest first */
export const runsOfYesterday = (db: Database, customerId: string): Promise<AgentYesterday[]> =>
  db.rows<AgentYesterday>(sql`
    select coalesce(agent, 'not yet chosen') as agent, count(*)::int as runs,
      (count(*) filter (where status = 'succeeded'))::int as succeeded,
      (count(*) filter (where status = 'failed'))::int as failed, trim_scale(sum(cost_usd))::text as cost_usd
    from runs where customer_id = ${customerId} and ${YESTERDAY}
    group by agent order by count(*) desc, 1`);

export const failuresOfYesterday = (db: Database, customerId: string, limit: number): Promise<FailureYesterday[]> =>
  db.rows<FailureYesterday>(sql`
    select id as run_id, agent, left(error, 300) as error
    from runs where customer_id = ${customerId} and ${YESTERDAY} and status = 'failed'
    order by seq desc limit ${limit}`);
