/** Parts of statements of other resources that ask or tell something of workspaces. */
import { sql, type SQL } from 'drizzle-orm';

/** The last row of the audit log from before the life that the workspace is in; 0 in its first one. */
export const auditFrom = (customerId: SQL | string): SQL<number> =>
  sql<number>`(select coalesce(w.audit_from, 0) from workspaces w where w.customer_id = ${customerId})`;
