/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import type { TenantData } from '../../platform/db/tenant-data.ts';

export const workspacesData: TenantData = {
  workspaces: {
    end: { stays: 'its generation counts on' },
    archive: { left: 'the manifest says what the workspace is, with credentials in its config masked' },
  },
};
