/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { type TenantData } from '../../platform/db/tenant-data.ts';

export const receiversData: TenantData = {
  delivery_slots: {
    end: { stays: 'places at a host, for as long as a request takes' },
    archive: { left: 'places at a host, for as long as a request takes' },
  },
};
