/** Queries on heartbeats. */
import { and, asc, eq, sql, type SQL } from 'drizzle-orm';
import { newUuid } from '../../platform/core/ids.ts';
import { first, present } from '../../platform/core/present.ts';
import { found, type Database } from '../../platform/db/client.ts';
import { noteSwitched } from '../event-log/store/write.ts';
import { openStatus } from '../workspaces/store/caps.ts';
import { workspaces } from '../workspaces/table.ts';
import { heartbeats } from './table.ts';

export type HeartbeatStore = ReturnType<typeof createHeartbeatStore>;
export type HeartbeatRow = typeof heartbeats.$inferSelect;
type HeartbeatValues = Pick<HeartbeatRow, 'name' | 'agentSlug' | 'prompt' | 'intervalS' | 'enabled'>;

const heartbeatIs = (customerId: string, id: string) =>
  and(eq(heartbeats.customerId, customerId), eq(heartbeats.id, id));

export const createHeartbeatStore = (db: Database) => ({
  list: (customerId: string): Promise<HeartbeatRow[]> =>
    db.orm.select().from(heartbeats).where(eq(heartbeats.customerId, customerId)).orderBy(asc(heartbeats.id)),

  async counts(customerId: string): Promise<{ total: number; enabled: number }> {
    return first(
      await db.orm
        .select({
          total: sql<number>`count(*)::int`,
          enabled: sql<number>`(count(*) filter (where ${heartbeats.enabled}))::int`,
        })
        .from(heartbeats)
        .where(eq(heartbeats.customerId, customerId)),
    );
  },

  async find(customerId: string, id: string): Promise<HeartbeatRow | undefined> {
    const [row] = await db.orm.select().from(heartbeats).where(heartbeatIs(customerId, id));
    return row;
  },

  async insert(customerId: string, values: HeartbeatValues): Promise<HeartbeatRow> {
    return first(
      await db.orm
        .insert(heartbeats)
        .values({ ...values, customerId, id: newUuid() })
        .returning(),
    );
  },

  /** @throws Problem not_found */
  change: (customerId: string, id: string, change: Partial<HeartbeatValues>) =>
    db.transaction(async () => {
      const [before] = await db.orm.select().from(heartbeats).where(heartbeatIs(customerId, id)).for('update');
      found(before);
      const after = first(
        await db.orm
          .update(heartbeats)
          .set({ ...change, revision: sql`${heartbeats.revision} + 1`, updatedAt: sql`now()` })
          .where(heartbeatIs(customerId, id))
          .returning(),
      );
      const heartbeat = { customerId, id, of: 'heartbeat' as const };
      await noteSwitched(db, heartbeat, { before: present(before).enabled, after: after.enabled });
      return { before: present(before), after };
    }),

  async delete(customerId: string, id: string): Promise<void> {
    await db.orm.delete(heartbeats).where(heartbeatIs(customerId, id));
  },

  /** Lists what Temporal should have for a workspace: nothing once it is archived or being taken down. */
  listFollowed: (customerId: string): Promise<{ row: HeartbeatRow; workspaceId: string }[]> =>
    db.orm
      .select({ row: heartbeats, workspaceId: workspaces.identityWorkspaceId })
      .from(heartbeats)
      .innerJoin(workspaces, eq(workspaces.customerId, heartbeats.customerId))
      .where(and(eq(heartbeats.customerId, customerId), sql`${openStatus} <> 'archived'`)),
});

/** Selects `name` and `created_at` of the heartbeats of a workspace. */
export const namedHeartbeats = (customerId: string): SQL =>
  sql`select name, created_at from heartbeats where customer_id = ${customerId}`;

/** Counts the heartbeats of an agent. */
export const countHeartbeatsOf = (customerId: string, agent: string): SQL => sql`
  select count(*)::int as count from heartbeats where customer_id = ${customerId} and agent_slug = ${agent}`;
