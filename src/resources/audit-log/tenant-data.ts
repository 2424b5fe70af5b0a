/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { sql } from 'drizzle-orm';
import { auditFrom } from '../workspaces/store/fragments.ts';
import { SAME_TENANT, type TenantData } from '../../platform/db/tenant-data.ts';

export const auditLogData: TenantData = {
  audit_log: {
    end: { stays: 'evidence; a workspace reads what was done in its own life' },
    archive: {
      columns: 'id actor action target change status created_at',
      without: SAME_TENANT,
      // A workspace reads what was done in its own life.
      from: (customerId) => sql`
        audit_log t where t.customer_id = ${customerId} and t.id > ${auditFrom(customerId)}`,
    },
  },
};
