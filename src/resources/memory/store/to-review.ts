/** Finds memories that nobody has confirmed for a month. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';

export interface MemoryToReview {
  id: number;
  type: string;
  slug: string | null;
  written: string;
  verified: string | null;
  content: string;
}

/** @returns the longest unconfirmed first */
export const memoriesToReview = (db: Database, customerId: string, limit: number): Promise<MemoryToReview[]> =>
  db.rows<MemoryToReview>(sql`
    select id, type, slug, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as written,
      to_char(last_verified_at at time zone 'UTC', 'YYYY-MM-DD') as verified, left(content, 300) as content
    from memory_entries
    where customer_id = ${customerId} and status = 'active' and type <> 'skill'
      and coalesce(last_verified_at, created_at) < now() - interval '30 days'
    order by coalesce(last_verified_at, created_at), id limit ${limit}`);
