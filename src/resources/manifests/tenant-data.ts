/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { SAME_TENANT, type TenantData } from '../../platform/db/tenant-data.ts';

export const manifestsData: TenantData = {
  manifest_origins: {
    end: { goes: 'before made again' },
    archive: {
      columns: 'kind name source file revision content_hash applied_by applied_at created_at',
      without: SAME_TENANT,
    },
  },
};
