/** Selects and deletes what runs that have ended left behind. */
import { sql, type SQL } from 'drizzle-orm';
import { encodeTime } from 'ulid';
import { deleting, time } from '../../../platform/db/retained.ts';

/** @returns the lowest id that can be made at this time */
const firstRunId = (at: Date): string => encodeTime(at.getTime(), 10).toLowerCase();

/** The run is looked up row by row: in a join a plan could begin with all the runs there ever were. */
const runEnded = (before: Date): SQL =>
  sql`(select r.completed_at from runs r where r.id = d.run_id) < ${time(before)}`;

/** @param table has a column `run_id`; its rows are `d` in `more` */
export const deletingOfEndedRuns = (table: string, before: Date, limit: number, more = sql``): SQL =>
  deleting(
    table,
    sql`select d.ctid from ${sql.identifier(table)} d where d.run_id < ${firstRunId(before)} and ${runEnded(before)} ${more}
      order by d.run_id limit ${limit}`,
  );
