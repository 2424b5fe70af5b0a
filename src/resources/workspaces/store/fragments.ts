/** Parts of statements of other resources that ask or tell something of workspaces. */
import { sql, type SQL } from 'drizzle-orm';

/** The last row of the audit log from before the life that the workspace is in; 0 in its first one. */
export const auditFrom = (customerId: SQL | string): SQL<number> =>
  sql<number>`(select coalesce(w.audit_from, 0) from workspaces w where w.customer_id = ${customerId})`;

/** All workspaces, to go through their rows one workspace at a time: an index that begins with the workspace serves each. */
export const EACH_WORKSPACE: SQL = sql`(select customer_id, events_from from workspaces)`;

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
