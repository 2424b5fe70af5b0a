/** Lists projects that have not ended, for a workspace that is taken down. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';

export const listOpenProjects = (db: Database, customerId: string, limit: number): Promise<{ id: string }[]> =>
  db.rows<{ id: string }>(sql`
    select id from projects where customer_id = ${customerId} and status in ('planning', 'active', 'paused') order by id limit ${limit}`);
