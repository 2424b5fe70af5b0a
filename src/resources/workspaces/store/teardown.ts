/**
 * Ends in the record what a workspace has when it is taken down (keys, triggers, files), and lists what is under way.
 */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import { forget } from '../lives.ts';

export const createTeardownRows = (db: Database) => ({
  /** Revokes keys that open something here, and those that are kept here and open something elsewhere. */
  async revokeKeys(customerId: string): Promise<void> {
    await db.rows(sql`
      update api_keys set revoked_at = now() where customer_id = ${customerId} and revoked_at is null`);
    await forget(customerId, 'destroyed', (statement) => db.rows(statement));
  },

  /** Lists a few projects that have not ended. */
  listOpenProjects: (customerId: string, limit: number) =>
    db.rows<{ id: string }>(sql`
    select id from projects where customer_id = ${customerId} and status in ('planning', 'active', 'paused')
    order by id limit ${limit}`),

  /** Lists a few runs that are in flight. */
  listOpenRuns: (customerId: string, limit: number) =>
    db.rows<{ id: string }>(sql`
    select id from runs where customer_id = ${customerId} and status in ('queued', 'running')
    order by id limit ${limit}`),

  /** Jobs and heartbeats stay as they are, and none runs by itself again. */
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

  /** Deletes the rows that name files of the workspace. */
  forgetFiles: (customerId: string) =>
    db.transaction(async () => {
      await db.rows(sql`delete from attachments where customer_id = ${customerId}`);
      await db.rows(sql`delete from run_artifacts where customer_id = ${customerId}`);
      await db.rows(sql`update agent_settings set avatar_file = null where customer_id = ${customerId}`);
    }),
});
