/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { type TenantData } from '../../platform/db/tenant-data.ts';

export const talliesData: TenantData = {
  tallies: {
    end: { stays: 'triggers count what goes' },
    archive: { left: 'counts of the rows that go out' },
  },
  tally_deltas: {
    end: { stays: 'triggers count what goes' },
    archive: { left: 'counts of the rows that go out' },
  },
};
