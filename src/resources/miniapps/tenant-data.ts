/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { SAME_TENANT, type TenantData } from '../../platform/db/tenant-data.ts';

export const miniappsData: TenantData = {
  miniapp_pages: {
    end: { goesWith: 'runs' },
    archive: {
      columns: 'run_id call_id tool html submitted submitted_at expires_at created_at',
      without: {
        ...SAME_TENANT,
        id: 'a part of the address that opens the page without a session',

        waits: 'calls that are told of a submission by this deployment',
      },
    },
  },
};
