/** What search shows of these rows, for a document `p` of the index. */
import { sql } from 'drizzle-orm';
import type { Searched } from '../../platform/db/searched.ts';

export const searchedEvent: Searched = (customerId) => sql`
  select e.id::text, replace(e.topic, '_', ' '), null, null, null, e.project_id, null, null, array['event', 'message'],
    array[replace(e.topic, '_', ' '), text_of_event(e.payload)]
  from project_events e
  where e.id = case when p.kind = 'event' and p.subject not like 'log-%' then p.subject::bigint end and e.customer_id = ${customerId}`;
