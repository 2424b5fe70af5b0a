/** What of these tables is deleted when it is old. */
import { sql } from 'drizzle-orm';
import { counting, deleting, deletingEndedDeliveries, type Retained } from '../../platform/db/retained.ts';

export const outputsRetained: Retained = {
  deliveries: [
    deletingEndedDeliveries('output_deliveries'),
    // Counts are those of a day.
    (_before, limit) =>
      counting(
        deleting(
          'output_mail_counts',
          sql`select d.ctid from output_mail_counts d where d.day < (now() at time zone 'utc')::date - 1 order by d.day limit ${limit}`,
        ),
      ),
  ],
};
