/**
 * Lets one change at a time be made for a workspace at its providers, over all processes. A provider may take seconds,
 * for which no transaction can stay open: so whoever changes something takes a lease, which ends by itself where its
 * holder died.
 */
import { eq, and, sql } from 'drizzle-orm';
import { setTimeout as pause } from 'node:timers/promises';
import { newUuid } from '../../platform/core/ids.ts';
import { Problem } from '../../platform/core/problem.ts';
import type { Database } from '../../platform/db/client.ts';
import { billingLeases } from './table.ts';

/** It is longer than the slowest change takes, retries included. */
const TTL_S = 300;
const PATIENCE_MS = 15_000;
const LOOK_EVERY_MS = 100;

export type Lease = ReturnType<typeof createLease>;

export const createLease = (db: Database) => {
  const take = async (customerId: string, token: string): Promise<boolean> => {
    const rows = await db.rows(sql`
      insert into billing_leases (customer_id, token, expires_at)
      values (${customerId}, ${token}, now() + ${TTL_S} * interval '1 second')
      on conflict (customer_id) do update set token = excluded.token, expires_at = excluded.expires_at
      where billing_leases.expires_at < now() returning 1`);
    return rows.length > 0;
  };

  /**
   * Runs `work` while nobody else changes anything for the workspace. Not within a transaction.
   * @param work gets a name for this one attempt
   * @throws Problem billing_change_in_progress when others took too long
   */
  return async <T>(customerId: string, work: (attempt: string) => Promise<T>): Promise<T> => {
    const token = newUuid();
    for (const deadline = performance.now() + PATIENCE_MS; !(await take(customerId, token));) {
      if (performance.now() > deadline) throw new Problem('billing_change_in_progress');
      await pause(LOOK_EVERY_MS);
    }
    try {
      return await work(token);
    } finally {
      await db.orm
        .delete(billingLeases)
        .where(and(eq(billingLeases.customerId, customerId), eq(billingLeases.token, token)));
    }
  };
};
