/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { sql } from 'drizzle-orm';
import { STORAGE_KEY, SAME_TENANT, type TenantData } from '../../platform/db/tenant-data.ts';

export const agentsData: TenantData = {
  agents: {
    end: { goes: 'before made again' },
    archive: {
      columns:
        'slug description prompt session_prompt heartbeat_prompt model allowed_tools default_workspace memory_mode on_lost_effect version created_at updated_at',
      without: SAME_TENANT,
    },
  },
  agent_settings: {
    end: { goes: 'before made again' },
    archive: {
      columns:
        'slug model default_model selection_mode reasoning resolver_enforce effort max_output_tokens fallback_models voice updated_at',
      without: { ...SAME_TENANT, avatar_file: STORAGE_KEY },
      file: { key: 'avatar_file', row: 'slug' },
    },
    atDestruction: {
      step: 'files',
      statement: (customerId) => sql`update agent_settings set avatar_file = null where customer_id = ${customerId}`,
    },
  },
};
