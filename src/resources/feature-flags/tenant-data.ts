/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { type TenantData } from '../../platform/db/tenant-data.ts';

export const featureFlagsData: TenantData = {
  feature_flags: {
    end: { stays: 'of the deployment' },
    archive: { left: 'of the deployment' },
  },
};
