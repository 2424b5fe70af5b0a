/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { SAME_TENANT, type TenantData } from '../../platform/db/tenant-data.ts';

export const eventsData: TenantData = {
  project_events: {
    end: { goesWith: 'projects' },
    archive: {
      columns:
        'id project_id ts task_id subtask_id attempt_number level category topic actor_kind actor_id payload trace_id tx seq',
      without: SAME_TENANT,
      order: 'tx seq',
    },
  },
};
