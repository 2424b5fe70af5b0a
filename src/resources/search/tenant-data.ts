/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { type TenantData } from '../../platform/db/tenant-data.ts';

export const searchData: TenantData = {
  search_documents: {
    // What it is of takes it along, by triggers.
    end: { goes: 'before made again' },
    archive: { left: 'made of the rows that go out' },
  },
};
