/** How agents name tools. */
import { sql } from 'drizzle-orm';
import type { Naming } from '../references/model.ts';

export const agentsNaming: Naming = {
  tool: (customerId, slug) => sql`
    select 'agent' as kind, slug as name from agents where customer_id = ${customerId} and ${slug} = any(allowed_tools)`,
};
