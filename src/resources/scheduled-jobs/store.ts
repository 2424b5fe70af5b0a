/** Custom jobs and what workspaces changed about those that ship. */
import { and, asc, eq, sql, type SQL } from 'drizzle-orm';
import { first, present } from '../../platform/core/present.ts';
import type { ProblemCode } from '../../platform/core/problem.ts';
import { found, type Database } from '../../platform/db/client.ts';
import { unlessTaken } from '../../platform/db/taken.ts';
import { isFiringMissed, noteSwitched, writeLogEventOnce } from '../event-log/store/write.ts';
import { openStatus } from '../workspaces/store/caps.ts';
import { workspaces } from '../workspaces/table.ts';
import { customJobId } from './model.ts';
import { scheduledJobs } from './table.ts';

export type JobStore = ReturnType<typeof createJobStore>;
export type JobRow = typeof scheduledJobs.$inferSelect;
type JobValues = Pick<
  JobRow,
  'name' | 'cron' | 'agentSlug' | 'brief' | 'enabled' | 'model' | 'reasoning' | 'outputSchema'
>;

const jobIs = (customerId: string, n: number) => and(eq(scheduledJobs.customerId, customerId), eq(scheduledJobs.n, n));

/** @throws Problem name_taken */
const unlessNameTaken = <T>(write: () => Promise<T>): Promise<T> =>
  unlessTaken('scheduled_jobs_by_name', 'a job of this name exists', write);

/** Seconds within which a round over all workspaces should come by: some 70,000 of them, at 5 ms each. */
const ROUND_S = 3_600;
/** The count of what is overdue stops here, so that it costs the same however far behind the chore is. */
const MOST_COUNTED = 10_000;

/** How many workspaces nobody has looked at within the time of a round, and by how many seconds it has passed. */
export const FOLLOWING_BEHIND = {
  followRows: sql`(
    select count(*)::int as due,
      coalesce(extract(epoch from now() - min(schedules_checked_at)) - ${ROUND_S}, 0)::float8 as "overdueS"
    from (
      select schedules_checked_at from workspaces
      where schedules_checked_at < now() - make_interval(secs => ${ROUND_S})
      order by schedules_checked_at limit ${MOST_COUNTED}
    ) overdue)`,
};

export const createJobStore = (db: Database) => ({
  list: (customerId: string): Promise<JobRow[]> =>
    db.orm.select().from(scheduledJobs).where(eq(scheduledJobs.customerId, customerId)).orderBy(asc(scheduledJobs.n)),

  count: (customerId: string): Promise<number> =>
    db.orm.$count(scheduledJobs, eq(scheduledJobs.customerId, customerId)),

  async find(customerId: string, n: number): Promise<JobRow | undefined> {
    const [row] = await db.orm.select().from(scheduledJobs).where(jobIs(customerId, n));
    return row;
  },

  /** @throws Problem name_taken */
  insert: (customerId: string, job: JobValues): Promise<JobRow> =>
    unlessNameTaken(async () => {
      return first(
        await db.orm
          .insert(scheduledJobs)
          .values({ ...job, customerId })
          .returning(),
      );
    }),

  /** @throws Problem not_found, name_taken */
  change: (customerId: string, n: number, change: Partial<JobValues>): Promise<{ before: JobRow; after: JobRow }> =>
    db.transaction(async () => {
      const [before] = await db.orm.select().from(scheduledJobs).where(jobIs(customerId, n)).for('update');
      found(before);
      return unlessNameTaken(async () => {
        const after = first(
          await db.orm
            .update(scheduledJobs)
            .set({ ...change, revision: sql`${scheduledJobs.revision} + 1`, updatedAt: sql`now()` })
            .where(jobIs(customerId, n))
            .returning(),
        );
        const job = { customerId, id: customJobId(n), of: 'job' as const };
        await noteSwitched(db, job, { before: present(before).enabled, after: after.enabled });
        return { before: present(before), after };
      });
    }),

  /**
   * Tells once that a job or a heartbeat had its time and that its run was refused.
   * @param firing is the id that its run would have had, which an activity that is repeated has again
   */
  noteMissed: (
    customerId: string,
    firing: string,
    { id, of }: { id: string; of: 'job' | 'heartbeat' },
    problem: ProblemCode,
  ) =>
    writeLogEventOnce(db, {
      kind: 'schedule',
      topic: 'missed',
      subject: id,
      customerId,
      payload: { of, problem, firing },
    }),

  /** @returns whether the log tells of a firing that it was refused */
  isMissed: (customerId: string, firing: string): Promise<boolean> => isFiringMissed(db, customerId, firing),

  /** @returns whether there was one */
  async delete(customerId: string, n: number): Promise<boolean> {
    const gone = await db.orm.delete(scheduledJobs).where(jobIs(customerId, n)).returning({ n: scheduledJobs.n });
    return gone.length > 0;
  },

  /** Lists what Temporal should have for a workspace: nothing once it is archived or being taken down. */
  listFollowed: (customerId: string): Promise<{ row: JobRow; workspaceId: string }[]> =>
    db.orm
      .select({ row: scheduledJobs, workspaceId: workspaces.identityWorkspaceId })
      .from(scheduledJobs)
      .innerJoin(workspaces, eq(workspaces.customerId, scheduledJobs.customerId))
      .where(and(eq(scheduledJobs.customerId, customerId), sql`${openStatus} <> 'archived'`)),
});

/** Selects `name` and `created_at` of the jobs of a workspace. */
export const namedJobs = (customerId: string): SQL =>
  sql`select name, created_at from scheduled_jobs where customer_id = ${customerId}`;

/** Counts the jobs of an agent. */
export const countJobsOf = (customerId: string, agent: string): SQL => sql`
  select count(*)::int as count from scheduled_jobs where customer_id = ${customerId} and agent_slug = ${agent}`;
