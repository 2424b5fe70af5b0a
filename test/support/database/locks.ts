/** What sessions of a database wait for: for tests of what happens at the same moment. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../src/platform/db/client.ts';
import { eventually } from '../service/service.ts';

/** Waits until so many sessions wait for what others hold; also within the transaction that they wait for. */
export const untilWaiting = (db: Database, count: number): Promise<void> =>
  eventually(async () => {
    // A transaction sees of other sessions what it saw when it first looked.
    await db.rows(sql`select pg_stat_clear_snapshot()`);
    const [waiting] = await db.rows<{ n: number }>(sql`
      select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);
    if (waiting?.n !== count) throw new Error(`${waiting?.n} sessions wait, and not ${count}`);
  });

/**
 * Does `late` when `first` is done and not committed, and commits once `late` waits for it.
 * @param count of sessions that then wait
 * @returns what `late` gave
 */
export async function doBehind<T>(
  db: Database,
  first: () => Promise<unknown>,
  late: () => Promise<T>,
  count = 1,
): Promise<T> {
  const isDone = Promise.withResolvers<void>();
  // Said out here, for whatever is begun within a transaction is a part of it.
  const answer = isDone.promise.then(late);
  await db.transaction(async () => {
    await first();
    isDone.resolve();
    await untilWaiting(db, count);
  });
  return answer;
}
