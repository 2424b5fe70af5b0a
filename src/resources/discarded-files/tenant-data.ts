/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { type TenantData } from '../../platform/db/tenant-data.ts';

export const discardedFilesData: TenantData = {
  discarded_files: {
    end: { stays: 'keys that are used once; a row goes with its file' },
    archive: { left: 'files that nothing refers to' },
  },
};
