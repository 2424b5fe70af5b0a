/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { sql } from 'drizzle-orm';
import { SAME_TENANT, type TenantData } from '../../platform/db/tenant-data.ts';

export const heartbeatsData: TenantData = {
  heartbeats: {
    end: { goes: 'before made again' },
    archive: {
      columns: 'id name agent_slug prompt interval_s enabled revision created_at updated_at',
      without: SAME_TENANT,
    },
    atDestruction: {
      step: 'triggers',
      statement: (customerId) => sql`
        update heartbeats set enabled = false, revision = revision + 1, updated_at = now()
        where customer_id = ${customerId} and enabled`,
    },
  },
};
