/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { SAME_TENANT, type TenantData } from '../../platform/db/tenant-data.ts';

export const templatesData: TenantData = {
  templates: {
    end: { goes: 'before made again' },
    archive: {
      columns: 'id slug version name description collection tags spec phase_count status created_at updated_at',
      without: SAME_TENANT,
    },
  },
};
