/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { sql } from 'drizzle-orm';
import { SECRET, SAME_TENANT, type TenantData } from '../../platform/db/tenant-data.ts';

export const deployTokensData: TenantData = {
  deploy_tokens: {
    end: { goes: 'made again' },
    archive: {
      columns: 'id name created_by created_at expires_at last_used_at revoked_at',
      without: { ...SAME_TENANT, token_hash: SECRET },
    },
    secrets: (customerId) => sql`
      select 'deploy_token' as kind, name, null as field from deploy_tokens
      where customer_id = ${customerId} and revoked_at is null and expires_at > now()`,
  },
};
