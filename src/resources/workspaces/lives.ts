/**
 * Deletes the rows of a workspace at its end. Its id may be made again, for somebody else too: then nothing of the life before
 * is there, or reaches into the new one.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { RowsEnd, TenantData } from '../../platform/db/tenant-data.ts';

const ENDS: readonly RowsEnd[] = ['destroyed', 'before made again', 'made again'];
const BATCH = 500;

const deleteOf =
  (table: string) =>
  (customerId: string, limit: number): SQL => sql`
    delete from ${sql.identifier(table)} where customer_id = ${customerId} and ctid = any(array(
      select ctid from ${sql.identifier(table)} where customer_id = ${customerId} limit ${limit}))
    returning 1`;

/**
 * Deletes what goes at this end, and what was to go before it. It can be broken off and repeated.
 * @param step runs one statement; undefined: the rest is not to go now
 * @returns whether nothing is left
 */
export async function forget(
  tables: TenantData,
  customerId: string,
  end: RowsEnd,
  step: (statement: SQL) => Promise<unknown[] | undefined>,
): Promise<boolean> {
  const ends = ENDS.slice(0, ENDS.indexOf(end) + 1);
  // What refers to other rows stands after these, and goes first.
  for (const [table, { end: fate }] of Object.entries(tables).reverse()) {
    if (!('goes' in fate) || !ends.includes(fate.goes)) continue;
    const { batch = BATCH, statement = deleteOf(table) } = fate;
    for (let rows = batch; rows === batch;) {
      const gone = await step(statement(customerId, batch));
      if (!gone) return false;
      rows = gone.length;
    }
  }
  return true;
}
