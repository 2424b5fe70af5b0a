/** Queries on feature flags. */
import { asc, eq, sql } from 'drizzle-orm';
import { first } from '../../platform/core/present.ts';
import type { Database } from '../../platform/db/client.ts';
import { knownWorkspaces } from '../workspaces/store/fragments.ts';
import { featureFlags } from './table.ts';

export type FlagStore = ReturnType<typeof createFlagStore>;
export type FlagRow = typeof featureFlags.$inferSelect;

interface FlagValues {
  enabled: boolean;
  /** What is left out stays as it is, and so do `workspaces`. */
  description?: string | null | undefined;
  workspaces?: Record<string, boolean> | undefined;
  updatedBy: string;
}

export const createFlagStore = (db: Database) => ({
  list: (): Promise<FlagRow[]> => db.orm.select().from(featureFlags).orderBy(asc(featureFlags.name)),

  async find(name: string): Promise<FlagRow | undefined> {
    const [row] = await db.orm.select().from(featureFlags).where(eq(featureFlags.name, name));
    return row;
  },

  async unknownWorkspaces(customerIds: readonly string[]): Promise<string[]> {
    if (customerIds.length === 0) return [];
    const known = new Set(await knownWorkspaces(db, customerIds));
    return customerIds.filter((customerId) => !known.has(customerId));
  },

  async put(name: string, { enabled, description, workspaces: exceptions, updatedBy }: FlagValues): Promise<FlagRow> {
    const given = {
      enabled,
      updatedBy,
      ...(description !== undefined && { description }),
      ...(exceptions !== undefined && { workspaces: exceptions }),
    };
    return first(
      await db.orm
        .insert(featureFlags)
        .values({ name, ...given })
        .onConflictDoUpdate({ target: featureFlags.name, set: { ...given, updatedAt: sql`now()` } })
        .returning(),
    );
  },

  /** @returns false when there is no such flag */
  async delete(name: string): Promise<boolean> {
    const gone = await db.orm.delete(featureFlags).where(eq(featureFlags.name, name)).returning();
    return gone.length > 0;
  },
});
