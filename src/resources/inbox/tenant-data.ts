/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { SAME_TENANT, type TenantData } from '../../platform/db/tenant-data.ts';

export const inboxData: TenantData = {
  waits: {
    end: { goesWith: 'runs and projects' },
    archive: {
      columns:
        'id kind subject project_id subtask_id run_id call_id revision opened_at due_at expires_at reminders reminders_by_hand reminded_at escalated_at timed_out_at settled_at answer settled_by settled_via comment',
      without: SAME_TENANT,
    },
  },
  wait_votes: {
    end: { goesWith: 'waits' },
    archive: { columns: 'wait_id revision voter seat answer comment via voted_at', without: SAME_TENANT },
  },
  wait_delegations: {
    end: { goesWith: 'waits' },
    archive: { columns: 'wait_id delegator stand_in until created_at', without: SAME_TENANT },
  },
  action_links: {
    end: { goesWith: 'waits' },
    archive: { left: 'links that decide without a session' },
  },
};
