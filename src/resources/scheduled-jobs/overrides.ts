/** What workspaces changed about jobs that ship. A workspace with a row has a schedule of its own. */
import { and, eq, sql } from 'drizzle-orm';
import { first, present } from '../../platform/core/present.ts';
import type { Database } from '../../platform/db/client.ts';
import { noteSwitched } from '../event-log/store/write.ts';
import { openStatus } from '../workspaces/store/caps.ts';
import { workspaces } from '../workspaces/table.ts';
import { builtinJobs } from './builtin/index.ts';
import { jobOverrides } from './table.ts';

export type OverrideStore = ReturnType<typeof createOverrideStore>;
export type OverrideRow = typeof jobOverrides.$inferSelect;
type Change = { cron?: string | undefined; enabled?: boolean | undefined };

const overrideIs = (customerId: string, jobId: string) =>
  and(eq(jobOverrides.customerId, customerId), eq(jobOverrides.jobId, jobId));

/** Every list of workspaces whose jobs run has this condition. */
const IS_OPEN = sql`${openStatus} <> 'archived'`;

export const createOverrideStore = (db: Database) => ({
  list: (customerId: string): Promise<OverrideRow[]> =>
    db.orm.select().from(jobOverrides).where(eq(jobOverrides.customerId, customerId)),

  async find(customerId: string, jobId: string): Promise<OverrideRow | undefined> {
    const [row] = await db.orm.select().from(jobOverrides).where(overrideIs(customerId, jobId));
    return row;
  },

  /** What is absent stays as it was. */
  change: (
    customerId: string,
    jobId: string,
    { cron, enabled }: Change,
  ): Promise<{ before: OverrideRow | undefined; after: OverrideRow }> =>
    db.transaction(async () => {
      const [before] = await db.orm.select().from(jobOverrides).where(overrideIs(customerId, jobId)).for('update');
      const after = first(
        await db.orm
          .insert(jobOverrides)
          .values({ customerId, jobId, cron, enabled })
          .onConflictDoUpdate({
            target: [jobOverrides.customerId, jobOverrides.jobId],
            set: {
              ...(cron !== undefined && { cron }),
              ...(enabled !== undefined && { enabled }),
              revision: sql`${jobOverrides.revision} + 1`,
              updatedAt: sql`now()`,
            },
          })
          .returning(),
      );
      const ships = present(builtinJobs.get(jobId)).enabled;
      const job = { customerId, id: jobId, of: 'job' as const };
      await noteSwitched(db, job, { before: before?.enabled ?? ships, after: after.enabled ?? ships });
      return { before, after };
    }),

  /** Takes a change back that nothing followed, unless somebody has changed it since. */
  async restore(after: OverrideRow, before: OverrideRow | undefined): Promise<void> {
    const isAfter = and(overrideIs(after.customerId, after.jobId), eq(jobOverrides.revision, after.revision));
    if (!before) {
      await db.orm.delete(jobOverrides).where(isAfter);
      return;
    }
    const { cron, enabled } = before;
    await db.orm
      .update(jobOverrides)
      .set({ cron, enabled, revision: sql`${jobOverrides.revision} + 1`, updatedAt: sql`now()` })
      .where(isAfter);
  },

  /** Lists what Temporal should have for a workspace: nothing once it is archived or being taken down. */
  listFollowed: (customerId: string): Promise<{ row: OverrideRow; workspaceId: string }[]> =>
    db.orm
      .select({ row: jobOverrides, workspaceId: workspaces.identityWorkspaceId })
      .from(jobOverrides)
      .innerJoin(workspaces, eq(workspaces.customerId, jobOverrides.customerId))
      .where(and(eq(jobOverrides.customerId, customerId), IS_OPEN)),

  async isOpen(customerId: string): Promise<boolean> {
    return (await db.orm.$count(workspaces, and(eq(workspaces.customerId, customerId), IS_OPEN))) > 0;
  },

  /** @returns the slugs of workspaces in which the job is as it ships */
  async listWithout(jobId: string, after: string, limit: number): Promise<string[]> {
    const rows = await db.rows<{ customerId: string }>(sql`
      select customer_id as "customerId" from workspaces
      where customer_id > ${after} and ${IS_OPEN} and not exists (
        select 1 from job_overrides o where o.customer_id = workspaces.customer_id and o.job_id = ${jobId})
      order by customer_id limit ${limit}`);
    return rows.map(({ customerId }) => customerId);
  },
});
