/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { SAME_TENANT, type TenantData } from '../../platform/db/tenant-data.ts';

export const membersData: TenantData = {
  workspace_members: {
    end: { goes: 'made again' },
    archive: { columns: 'id email role invited_by last_login_at created_at', without: SAME_TENANT },
  },
  former_members: {
    end: { goes: 'made again' },
    archive: { left: 'people who are to be let in nowhere' },
  },
  member_subjects: {
    end: { goes: 'made again' },
    archive: { left: 'names of people at the identity provider of this deployment' },
  },
};
