/** What jobs that ship can read and change in a workspace. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';

export type Facts = ReturnType<typeof createFacts>;

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
export interface MemoryToReview {
  id: number;
  type: string;
  slug: string | null;
  written: string;
  verified: string | null;
  content: string;
}

const TODAY = sql`date_trunc('day', now(), 'UTC')`;
const YESTERDAY = sql`created_at >= ${TODAY} - interval '1 day' and created_at < ${TODAY}`;

export const createFacts = (db: Database) => ({
  /** @returns runs of the day before (UTC) by agent, the busiest first */
  runsOfYesterday: (customerId: string): Promise<AgentYesterday[]> =>
    db.rows<AgentYesterday>(sql`
      select coalesce(agent, 'not yet chosen') as agent, count(*)::int as runs,
        (count(*) filter (where status = 'succeeded'))::int as succeeded,
        (count(*) filter (where status = 'failed'))::int as failed, trim_scale(sum(cost_usd))::text as cost_usd
      from runs where customer_id = ${customerId} and ${YESTERDAY}
      group by agent order by count(*) desc, 1`),

  failuresOfYesterday: (customerId: string, limit: number): Promise<FailureYesterday[]> =>
    db.rows<FailureYesterday>(sql`
      select id as run_id, agent, left(error, 300) as error
      from runs where customer_id = ${customerId} and ${YESTERDAY} and status = 'failed'
      order by seq desc limit ${limit}`),

  /** @returns memories that nobody has confirmed for a month, the longest unconfirmed first */
  memoriesToReview: (customerId: string, limit: number): Promise<MemoryToReview[]> =>
    db.rows<MemoryToReview>(sql`
      select id, type, slug, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as written,
        to_char(last_verified_at at time zone 'UTC', 'YYYY-MM-DD') as verified, left(content, 300) as content
      from memory_entries
      where customer_id = ${customerId} and status = 'active' and type <> 'skill'
        and coalesce(last_verified_at, created_at) < now() - interval '30 days'
      order by coalesce(last_verified_at, created_at), id limit ${limit}`),

  /** Makes the next check of credentials, within a minute, ask about all of them. */
  async recheckCredentials(customerId: string): Promise<void> {
    await db.rows(sql`update integration_credentials set check_at = now() where customer_id = ${customerId}`);
  },
});
