/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { SAME_TENANT, type TenantData } from '../../platform/db/tenant-data.ts';

export const toolsData: TenantData = {
  tools: {
    end: { goes: 'before made again' },
    archive: {
      columns:
        'slug id description kind shape access integration effect sensitive schema version created_at updated_at',
      without: { ...SAME_TENANT, sealed_body: 'sealed; `manifests/` has it with a name in the place of each secret' },
    },
  },
};
