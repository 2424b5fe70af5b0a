/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { sql } from 'drizzle-orm';
import { SECRET, SAME_TENANT, type TenantData } from '../../platform/db/tenant-data.ts';

export const apiKeysData: TenantData = {
  api_keys: {
    // Members may make the workspace again, and until then an archive shows its keys as revoked.
    end: { goes: 'made again' },
    archive: {
      columns: 'id name made_by created_at last_used_at revoked_at',
      without: { ...SAME_TENANT, key_hash: SECRET, key_prefix: SECRET },
    },
    atDestruction: {
      step: 'keys',
      statement: (customerId) => sql`
        update api_keys set revoked_at = now() where customer_id = ${customerId} and revoked_at is null`,
    },
    secrets: (customerId) => sql`
      select 'api_key' as kind, name, null as field from api_keys
      where customer_id = ${customerId} and revoked_at is null`,
  },
};
