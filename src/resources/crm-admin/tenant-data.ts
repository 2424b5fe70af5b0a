/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { type TenantData } from '../../platform/db/tenant-data.ts';

export const crmAdminData: TenantData = {
  crm_customers: {
    end: { stays: 'notes of the operator, whom alone they are shown to' },
    archive: { left: 'notes of the operator, whom alone they are shown to' },
  },
  crm_notes: {
    end: { stays: 'notes of the operator, whom alone they are shown to' },
    archive: { left: 'notes of the operator, whom alone they are shown to' },
  },
};
