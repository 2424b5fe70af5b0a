/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { sql } from 'drizzle-orm';
import { SECRET, SAME_TENANT, type TenantData } from '../../platform/db/tenant-data.ts';

export const integrationsData: TenantData = {
  integration_credentials: {
    end: { goes: 'destroyed' },
    archive: {
      columns: 'slug kind scope health checked_at created_at updated_at',
      without: {
        ...SAME_TENANT,
        sealed: SECRET,
        token_id: 'names a secret that does not go out',
        check_at: 'when housekeeping of this deployment looks at it',
      },
    },
    secrets: (customerId) => sql`
      select 'integration_login' as kind, slug as name, kind || ' ' || scope as field
      from integration_credentials where customer_id = ${customerId}`,
  },
  integration_secrets: {
    // Secrets of third parties are not kept for an archive to be read.
    end: { goes: 'destroyed' },
    archive: { columns: 'slug dotted updated_at', without: { ...SAME_TENANT, sealed: SECRET } },
    secrets: (customerId) => sql`
      select 'integration' as kind, slug as name, dotted as field from integration_secrets where customer_id = ${customerId}`,
  },
};
