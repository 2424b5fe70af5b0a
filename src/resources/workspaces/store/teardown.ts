/** What the teardown of a workspace ends in the record: its keys, its triggers, its files; and what it finds under way. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import { forget } from '../lives.ts';

export const createTeardownRows = (db: Database) => ({
  /** Keys that open something here, and those that are kept here and open something elsewhere. */
  async revokeKeys(customerId: string): Promise<void> {
    await db.rows(sql`
      update api_keys set revoked_at = now() where customer_id = ${customerId} and revoked_at is null`);
    await forget(customerId, 'destroyed', (statement) => db.rows(statement));
  },

  /** A few projects that have not ended. */
  listOpenProjects: (customerId: string, limit: number) =>
    db.rows<{ id: string }>(sql`
    select id from projects where customer_id = ${customerId} and status in ('planning', 'active', 'paused')
    order by id limit ${limit}`),

  /** A few runs that are in flight. */
  listOpenRuns: (customerId: string, limit: number) =>
    db.rows<{ id: string }>(sql`
    select id from runs where customer_id = ${customerId} and status in ('queued', 'running')
    order by id limit ${limit}`),

  /** Jobs and heartbeats stay as they are written down, and none runs by itself again. */
  switchOffTriggers: (customerId: string) =>
    db.transaction(async () => {
      await db.rows(sql`
      update scheduled_jobs set enabled = false, revision = revision + 1, updated_at = now()
      where customer_id = ${customerId} and enabled`);
      await db.rows(sql`
      update job_overrides set enabled = false, revision = revision + 1, updated_at = now()
      where customer_id = ${customerId} and enabled`);
      await db.rows(sql`
      update heartbeats set enabled = false, revision = revision + 1, updated_at = now()
      where customer_id = ${customerId} and enabled`);
    }),

  /** What names a file of the workspace. */
  forgetFiles: (customerId: string) =>
    db.transaction(async () => {
      await db.rows(sql`delete from attachments where customer_id = ${customerId}`);
      await db.rows(sql`delete from run_artifacts where customer_id = ${customerId}`);
      await db.rows(sql`update agent_settings set avatar_file = null where customer_id = ${customerId}`);
    }),
});
