/** What search shows of these rows, for a document `p` of the index. */
import { sql } from 'drizzle-orm';
import type { Searched } from '../../platform/db/searched.ts';

export const searchedLogEvent: Searched = (customerId) => sql`
  select p.subject, e.kind || ' ' || replace(e.topic, '_', ' '), null, null, e.run_id, e.project_id, null, null, array['event', 'message'],
    array[replace(e.topic, '_', ' '), text_of_event(e.payload)]
  from log_events e
  where p.subject like 'log-%' and p.subject not like 'log-r%' and e.customer_id = ${customerId} and e.ts = p.at and 'log-' || e.seq = p.subject`;
