/**
 * The circuit of a place that things are delivered to: one that has taken nothing for days is paused, and its owners are
 * told. Whatever it takes closes the circuit again.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { Database } from './client.ts';
import { instant } from './columns.ts';

export const circuit = () => ({
  /** The first failure since it last took something. */
  failingSince: instant('failing_since'),
  /** Set by the circuit, not by a person. */
  pausedAt: instant('paused_at'),
  /** When its owners were told. */
  pauseToldAt: instant('pause_told_at'),
});

export const CLOSED = { failingSince: null, pausedAt: null, pauseToldAt: null } as const;

/** What things are delivered to. */
export interface Receivers {
  /** With the columns of `circuit`, and `id` and `customer_id`. */
  table: string;
  /** The column that says whether it is on. */
  on: string;
  /** The column that a person knows it by. */
  name: string;
}

/** One that is paused, of which its owners have not heard. */
export interface PauseUntold {
  id: string;
  customerId: string;
  name: string;
  failingSince: Date;
}

const IS_UNTOLD = sql`paused_at is not null and pause_told_at is null`;

/** Pauses of these that nobody was told of: how many, and since when. */
export const pausesBehind = (tables: readonly string[]): SQL => {
  const each = tables.map((table) => sql`select paused_at from ${sql.identifier(table)} where ${IS_UNTOLD}`);
  return sql`(
    select count(*)::int as due, coalesce(extract(epoch from now() - min(paused_at)), 0)::float8 as "overdueS"
    from (${sql.join(each, sql` union all `)}) untold)`;
};

/** @param afterMs how long it may take nothing until it is paused */
export function createCircuits(db: Database, receivers: Receivers, afterMs: number) {
  const [table, on, name] = [receivers.table, receivers.on, receivers.name].map((each) => sql.identifier(each));
  const isTooMany = sql`coalesce(failing_since < now() - ${afterMs} * interval '1 ms', false)`;

  return {
    /**
     * What an attempt comes to. Writes only where something moves: a first failure, the one too many, or something taken
     * after failures. Repeating it changes nothing.
     * @param which the receiver of the attempt
     */
    moveCircuit: (which: SQL, isTaken: boolean) =>
      db.rows(
        isTaken
          ? sql`
            update ${table} set ${on} = ${on} or paused_at is not null,
              failing_since = null, paused_at = null, pause_told_at = null
            where ${which} and (failing_since is not null or paused_at is not null)`
          : sql`
            update ${table} set failing_since = coalesce(failing_since, now()), ${on} = not ${isTooMany},
              paused_at = case when ${isTooMany} then now() end
            where ${which} and ${on} and (failing_since is null or ${isTooMany})`,
      ),

    /** Others each time, so that none that cannot be told of keeps the rest. */
    async listPausesUntold(limit: number): Promise<PauseUntold[]> {
      const rows = await db.rows<Omit<PauseUntold, 'failingSince'> & { failingSince: string }>(sql`
        select id::text, customer_id as "customerId", ${name} as name, failing_since as "failingSince" from ${table}
        where ${IS_UNTOLD} order by random() limit ${limit}`);
      return rows.map((row) => ({ ...row, failingSince: new Date(row.failingSince) }));
    },

    async recordPauseTold({ id }: PauseUntold): Promise<void> {
      await db.rows(sql`
        update ${table} set pause_told_at = now() where id::text = ${id} and ${IS_UNTOLD}`);
    },
  };
}
