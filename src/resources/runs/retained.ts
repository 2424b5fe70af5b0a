/** What of these tables is deleted when it is old. */
import { sql, type SQL } from 'drizzle-orm';
import { counting, type Retained } from '../../platform/db/retained.ts';
import { noteMissingEvents } from '../workspaces/store/fragments.ts';
import { deletingOfEndedRuns } from './store/ended.ts';

/** @param hasPage whether something outside still needs the calls of a run */
export const runsRetained = (hasPage: (runId: SQL) => SQL): Retained => ({
  run_details: [
    (before, limit) =>
      counting(deletingOfEndedRuns('run_tool_calls', before, limit, sql`and not ${hasPage(sql`d.run_id`)}`)),
    (before, limit) => counting(deletingOfEndedRuns('run_messages', before, limit)),
  ],
  events: [
    // The list of runs says how many events can be read.
    (before, limit) => sql`
      with gone as (${deletingOfEndedRuns('run_events', before, limit)} returning run_id, customer_id, tx),
      missing as (${noteMissingEvents(sql`gone`)}),
      counts as (select run_id, count(*)::int as events from gone group by run_id),
      counted as (update runs r set event_count = r.event_count - c.events from counts c where r.id = c.run_id)
      select coalesce(sum(events), 0)::int as deleted from counts`,
  ],
});
