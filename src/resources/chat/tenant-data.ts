/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { SAME_TENANT, type TenantData } from '../../platform/db/tenant-data.ts';

export const chatData: TenantData = {
  chat_threads: {
    end: { goes: 'before made again' },
    archive: { columns: 'id title agent_slug created_by created_at updated_at', without: SAME_TENANT },
  },
};
