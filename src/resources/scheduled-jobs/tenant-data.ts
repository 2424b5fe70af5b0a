/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { sql } from 'drizzle-orm';
import { SAME_TENANT, type TenantData } from '../../platform/db/tenant-data.ts';

export const scheduledJobsData: TenantData = {
  scheduled_jobs: {
    end: { goes: 'before made again' },
    archive: {
      columns: 'n name cron agent_slug brief enabled model reasoning output_schema revision created_at updated_at',
      without: SAME_TENANT,
    },
    atDestruction: {
      step: 'triggers',
      statement: (customerId) => sql`
        update scheduled_jobs set enabled = false, revision = revision + 1, updated_at = now()
        where customer_id = ${customerId} and enabled`,
    },
  },
  job_overrides: {
    end: { goes: 'before made again' },
    archive: { columns: 'job_id cron enabled revision updated_at', without: SAME_TENANT },
    atDestruction: {
      step: 'triggers',
      statement: (customerId) => sql`
        update job_overrides set enabled = false, revision = revision + 1, updated_at = now()
        where customer_id = ${customerId} and enabled`,
    },
  },
};
