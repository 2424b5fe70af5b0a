/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { sql } from 'drizzle-orm';
import { SECRET, SAME_TENANT, rowsOfParent, type TenantData } from '../../platform/db/tenant-data.ts';

export const webhookSubscriptionsData: TenantData = {
  webhook_subscriptions: {
    end: { goes: 'before made again' },
    archive: {
      columns: 'id url events description active failing_since paused_at pause_told_at created_at deleted_at',
      without: {
        ...SAME_TENANT,
        sealed_secret: SECRET,
        sealed_previous_secret: SECRET,
        previous_secret_until: 'of a secret that does not go out',
      },
    },
    secrets: (customerId) => sql`
      select 'webhook' as kind, url as name, null as field from webhook_subscriptions
      where customer_id = ${customerId} and deleted_at is null`,
  },
  webhook_events: {
    end: { goes: 'before made again' },
    archive: { columns: 'event_key body created_at', without: SAME_TENANT },
  },
  webhook_deliveries: {
    end: { goes: 'before made again' },
    archive: {
      columns:
        'id subscription_id event_type event_key status attempt_count redeliveries due_at created_at completed_at',
      without: SAME_TENANT,
    },
  },
  webhook_delivery_attempts: {
    end: { goesWith: 'webhook_deliveries' },
    archive: {
      columns: 'delivery_id attempt ts status_code duration_ms error response_excerpt',
      without: {},
      from: rowsOfParent('webhook_deliveries', 'webhook_delivery_attempts', sql`t.delivery_id = p.id`),
    },
  },
};
