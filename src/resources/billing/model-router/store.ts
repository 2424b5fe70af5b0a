/** Keys of the managed model router: a workspace has one at most, sealed for its row. */
import { and, eq, gt, sql, type SQL } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import { USD_MICROS } from '../model.ts';
import { routerKeys } from '../table.ts';

export interface RouterKeyRow {
  customerId: string;
  keyHash: string;
  /** A decimal string. */
  limitUsd: string;
  sealed: string;
  /** It counts changes of the limit. */
  revision: number;
}

/** @returns the owner that the key is sealed for */
export const routerKeyOwner = (customerId: string): string => `${customerId}/router_keys`;

const ROW = {
  customerId: routerKeys.customerId,
  keyHash: routerKeys.keyHash,
  limitUsd: routerKeys.limitUsd,
  sealed: routerKeys.sealed,
  revision: routerKeys.revision,
};

const IS_UNTOLD = gt(routerKeys.revision, routerKeys.toldRevision);

/** The time at which a limit changed is not kept: it is told at once, and only what failed is left for housekeeping. */
export const ROUTER_BEHIND = {
  tellRouter: sql`(select count(*)::int as due, 0::float8 as "overdueS" from ${routerKeys} where ${IS_UNTOLD})`,
};

export type RouterKeyStore = ReturnType<typeof createRouterKeyStore>;

export const createRouterKeyStore = (db: Database) => ({
  async find(customerId: string): Promise<RouterKeyRow | undefined> {
    const [row] = await db.orm.select(ROW).from(routerKeys).where(eq(routerKeys.customerId, customerId));
    return row;
  },

  /** @returns false where the workspace has one already */
  async insert(row: Omit<RouterKeyRow, 'revision'>): Promise<boolean> {
    const made = await db.orm
      .insert(routerKeys)
      .values(row)
      .onConflictDoNothing()
      .returning({ id: routerKeys.keyHash });
    return made.length > 0;
  },

  async remove(customerId: string, keyHash: string): Promise<void> {
    await db.orm.delete(routerKeys).where(and(eq(routerKeys.customerId, customerId), eq(routerKeys.keyHash, keyHash)));
  },

  /** Raises the limit, as new credit is more to spend. It is called in the transaction of the credit. */
  async raiseLimit(customerId: string, usdMicros: number): Promise<void> {
    await db.orm
      .update(routerKeys)
      .set({
        limitUsd: sql`${routerKeys.limitUsd} + ${usdMicros}::numeric / ${USD_MICROS}`,
        revision: sql`${routerKeys.revision} + 1`,
      })
      .where(eq(routerKeys.customerId, customerId));
  },

  /**
   * @returns limits that the router was not told of; each call gives others, so that those which fail hold nobody up
   */
  listUntold: (limit: number): Promise<RouterKeyRow[]> =>
    db.orm
      .select(ROW)
      .from(routerKeys)
      .where(IS_UNTOLD)
      .orderBy(sql`random()`)
      .limit(limit),

  async recordTold({ customerId, keyHash, revision }: RouterKeyRow): Promise<void> {
    await db.orm
      .update(routerKeys)
      .set({ toldRevision: sql`greatest(${routerKeys.toldRevision}, ${revision}::int)` })
      .where(and(eq(routerKeys.customerId, customerId), eq(routerKeys.keyHash, keyHash)));
  },
});

/** Whether a workspace has a key of the model router, for a statement of others. */
export const hasRouterKey = (customerId: SQL): SQL =>
  sql`exists (select 1 from router_keys k where k.customer_id = ${customerId})`;
