/** What of these tables is deleted when it is old. */
import { sql } from 'drizzle-orm';
import { deleting, time, type Retained } from '../../platform/db/retained.ts';
import { countingEvents } from '../workspaces/store/fragments.ts';

export const eventLogRetained: Retained = {
  events: [
    (before, limit) =>
      countingEvents(
        deleting(
          'log_events',
          sql`select d.ctid from log_events d where d.ts < ${time(before)} order by d.ts limit ${limit}`,
        ),
      ),
  ],
};
