/** Parts of statements of other resources that ask or tell something of workspaces. */
import { sql, type SQL } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import { openStatus } from './caps.ts';

/** The last row of the audit log from before the life that the workspace is in; 0 in its first one. */
export const auditFrom = (customerId: SQL | string): SQL =>
  sql`(select coalesce(w.audit_from, 0) from workspaces w where w.customer_id = ${customerId})`;

/** All workspaces, to go through their rows one workspace at a time: an index that begins with the workspace serves each. */
export const EACH_WORKSPACE: SQL = sql`(select customer_id, status from workspaces)`;

/**
 * Readers who would go on from before the deleted events are told that these are missing.
 * @param gone a CTE with `customer_id`, `tx`
 */
export const noteMissingEvents = (gone: SQL): SQL => sql`
  update workspaces w set events_from = g.tx + 1
  from (select customer_id, max(tx) as tx from ${gone} gone group by customer_id) g
  where w.customer_id = g.customer_id and w.events_from <= g.tx`;

/** Deletes events, notes that they are missing, and selects how many they were. @param deletion without `returning` */
export const countingEvents = (deletion: SQL): SQL => sql`
  with gone as (${deletion} returning customer_id, tx), missing as (${noteMissingEvents(sql`gone`)})
  select count(*)::int as deleted from gone`;

/** Workspaces are few, each with one row: what is due of them is counted as it is. */
const due = (status: 'pending' | 'provisioning'): SQL => sql`(
  select count(*)::int as due, coalesce(greatest(0, extract(epoch from now() - min(due_at))), 0)::float8 as "overdueS"
  from workspaces where status = ${sql.raw(`'${status}'`)} and due_at <= now())`;

/** How far housekeeping is behind with provisionings. */
export const WORKSPACES_BEHIND = { startWorkspaces: due('pending'), settleWorkspaces: due('provisioning') };

/** Selects the plan that a workspace asked for, and the one that is `inForce`. */
export const plansOf = (customerId: string): SQL => sql`
  select plan, plan_in_force as "inForce" from workspaces where customer_id = ${customerId}`;

/**
 * The workspace with this id, to be joined. `open_status` is that for whoever wants to start something: a workspace that is
 * being taken down counts as archived.
 */
export const workspaceOf = (customerId: SQL | string): SQL => sql`
  lateral (select identity_workspace_id, plan, plan_in_force, status, ${openStatus} as open_status, events_from, created_at, config
    from workspaces where workspaces.customer_id = ${customerId})`;

/** Locks a workspace in a statement that makes something in it, so that it is not archived meanwhile. */
export const shareOpen = (customerId: string): SQL => sql`
  select identity_workspace_id, ${openStatus} as status from workspaces where customer_id = ${customerId} for share`;

/** @returns the workspaces that have one of these ids of the identity provider, or one of these slugs */
export const findWorkspaces = (
  db: Database,
  ids: readonly string[],
  slugs: readonly string[],
): Promise<{ workspaceId: string; customerId: string }[]> =>
  db.rows<{ workspaceId: string; customerId: string }>(sql`
    select identity_workspace_id as "workspaceId", customer_id as "customerId" from workspaces
    where identity_workspace_id = any(${sql.param([...ids])}::text[]) or customer_id = any(${sql.param([...slugs])}::text[])`);

/** @returns those of these ids that there are */
export async function knownWorkspaces(db: Database, customerIds: readonly string[]): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(sql`
    select customer_id as id from workspaces where customer_id = any(${sql.param([...customerIds])}::text[])`);
  return rows.map(({ id }) => id);
}

/** Lets nobody else lock the workspace for as long as the transaction takes. */
export async function lockWorkspace(db: Database, customerId: string): Promise<void> {
  await db.rows(sql`select customer_id from workspaces where customer_id = ${customerId} for no key update`);
}
