/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { SAME_TENANT, type TenantData } from '../../platform/db/tenant-data.ts';

export const eventLogData: TenantData = {
  log_events: {
    end: { goes: 'before made again' },
    archive: {
      columns: 'tx seq ts kind topic subject run_id project_id payload',
      without: SAME_TENANT,
    },
  },
};
