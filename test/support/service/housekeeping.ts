/** Housekeeping at a moment that a test says. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../src/platform/db/client.ts';
import type { TestService } from './service.ts';

/** Of a chore that may take as long as it takes. */
export const UNHURRIED: AbortSignal = new AbortController().signal;

/** Whatever waits is looked at now, as if it had waited for long. */
export async function makeDue(db: Database): Promise<void> {
  await db.rows(sql`update runs set start_due_at = now() where start_due_at is not null and status = 'queued'`);
  await db.rows(sql`update projects set start_due_at = now() where start_due_at is not null and status = 'planning'`);
  await db.rows(sql`update webhook_deliveries set due_at = now() where status = 'pending'`);
  await db.rows(sql`update output_deliveries set due_at = now() where status = 'pending'`);
  await db.rows(sql`update workspaces set due_at = now() where status in ('pending', 'provisioning')`);
}

/** What housekeeping does for workspaces, at once. */
export async function lookAfterWorkspaces({ runtime, services }: TestService): Promise<void> {
  await makeDue(runtime.db);
  await services.workspaces.startLost(UNHURRIED);
  await services.workspaces.settleLost(UNHURRIED);
}
