/** Every row of every table as text: what a backup of the database would show. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../src/platform/db/client.ts';

/** @param ignored columns that change by themselves */
export async function dumpTables(db: Database, ignored: readonly string[] = []): Promise<string[]> {
  const tables = await db.rows<{ name: string }>(sql`
    select format('%I.%I', table_schema, table_name) as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema') order by 1`);
  const dump: string[] = [];
  // One after another: the embedded database has one connection.
  for (const { name } of tables) {
    const rows = await db.rows<{ row: string }>(
      sql`select (to_jsonb(t) - ${sql.param(ignored)}::text[])::text as row from ${sql.raw(name)} t order by 1`,
    );
    dump.push(...rows.map(({ row }) => `${name} ${row}`));
  }
  return dump;
}

/** Totals follow other rows, at a time of housekeeping's own. */
const FOLLOWING = /^public\.(tallies|tally_deltas) /;

/** When a key was last used, and when housekeeping last compared schedules with their rows: nothing that anybody did. */
const TIMES_OF_LOOKS = ['last_used_at', 'schedules_checked_at'];

/** What has been recorded, to be compared before and after something that is to change nothing. */
export const dumpRecords = async (db: Database): Promise<string[]> =>
  (await dumpTables(db, TIMES_OF_LOOKS)).filter((row) => !FOLLOWING.test(row));
