/** How scheduled jobs name agents. */
import { sql } from 'drizzle-orm';
import type { Naming } from '../references/model.ts';

export const jobsNaming: Naming = {
  agent: (customerId, slug) => sql`
    select 'job' as kind, name from scheduled_jobs where customer_id = ${customerId} and agent_slug = ${slug}`,
};
