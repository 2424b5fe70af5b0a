/** What of these tables is deleted when it is old. */
import { sql } from 'drizzle-orm';
import { deletingEndedDeliveries, deletingOlder, type Retained } from '../../platform/db/retained.ts';

const isUnsent = sql`and not exists (select 1 from webhook_deliveries w where w.event_key = d.event_key)`;

export const webhooksRetained: Retained = {
  deliveries: [deletingEndedDeliveries('webhook_deliveries'), deletingOlder('webhook_events', 'created_at', isUnsent)],
};
