/** Lists runs that have not ended, for a workspace that is taken down. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';

export const listOpenRuns = (db: Database, customerId: string, limit: number): Promise<{ id: string }[]> =>
  db.rows<{ id: string }>(sql`
    select id from runs where customer_id = ${customerId} and status in ('queued', 'running') order by id limit ${limit}`);
