/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { SAME_TENANT, type TenantData } from '../../platform/db/tenant-data.ts';

export const costData: TenantData = {
  spending_notices: {
    end: { goes: 'before made again' },
    archive: {
      columns:
        'key id topic cap_id period_start threshold spent_usd limit_usd run_id told_to attempts due_at told_at created_at',
      without: SAME_TENANT,
    },
  },
};
