/** How heartbeats name agents. */
import { sql } from 'drizzle-orm';
import type { Naming } from '../references/model.ts';

export const heartbeatsNaming: Naming = {
  agent: (customerId, slug) => sql`
    select 'heartbeat' as kind, name from heartbeats where customer_id = ${customerId} and agent_slug = ${slug}`,
};
