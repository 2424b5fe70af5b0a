/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { type TenantData } from '../../platform/db/tenant-data.ts';

export const exportsData: TenantData = {
  workspace_exports: {
    // The archives themselves go with the files.
    end: { goes: 'destroyed' },
    archive: { left: 'archives like this one' },
  },
};
