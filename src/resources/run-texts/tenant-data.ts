/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { type TenantData } from '../../platform/db/tenant-data.ts';

export const runTextsData: TenantData = {
  run_texts: {
    end: { goesWith: 'runs' },
    archive: { left: 'what a turn that is under way has written so far' },
  },
  text_watches: {
    end: { stays: 'seconds' },
    archive: { left: 'seconds' },
  },
};
