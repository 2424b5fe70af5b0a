/** What of these tables is deleted when it is old. */
import { sql } from 'drizzle-orm';
import { deleting, time, type Retained } from '../../platform/db/retained.ts';
import { GOING_PROJECT, statusOfProject } from '../projects/store/statuses.ts';
import { EACH_WORKSPACE, countingEvents } from '../workspaces/store/fragments.ts';

export const eventsRetained: Retained = {
  events: [
    // It goes workspace by workspace, as the index of times does.
    (before, limit) =>
      countingEvents(
        deleting(
          'project_events',
          sql`select d.place from ${EACH_WORKSPACE} w cross join lateral (
              select e.ctid as place from project_events e where e.customer_id = w.customer_id and e.ts < ${time(before)}
                and ${statusOfProject(sql`e.project_id`)} not in ${GOING_PROJECT}
              order by e.ts limit ${limit}) d
            limit ${limit}`,
        ),
      ),
  ],
};
