/**
 * The circuit breaker of a place that things are delivered to: a place that has taken nothing for days is paused, and
 * its owners are told. Anything that it takes closes the circuit again.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { Database } from './client.ts';
import { instant } from './columns.ts';

export const circuit = () => ({
  /** Since this failure the place has taken nothing. */
  failingSince: instant('failing_since'),
  /** The circuit sets this, never a person. */
  pausedAt: instant('paused_at'),
  /** The owners were told of the pause at this time. */
  pauseToldAt: instant('pause_told_at'),
});

export const CLOSED = { failingSince: null, pausedAt: null, pauseToldAt: null } as const;

/** A table of places that things are delivered to. */
export interface Receivers {
  /** It has the columns of `circuit`, and `id` and `customer_id`. */
  table: string;
  /** This column says whether the place is switched on. */
  on: string;
  /** People know the place by this column. */
  name: string;
}

/** The place is paused and its owners have not heard of it yet. */
export interface PauseUntold {
  id: string;
  customerId: string;
  name: string;
  failingSince: Date;
}

const IS_UNTOLD = sql`paused_at is not null and pause_told_at is null`;

/** @returns SQL that counts the pauses in these tables of which nobody was told, and since when they have waited */
export const pausesBehind = (tables: readonly string[]): SQL => {
  const each = tables.map((table) => sql`select paused_at from ${sql.identifier(table)} where ${IS_UNTOLD}`);
  return sql`(
    select count(*)::int as due, coalesce(extract(epoch from now() - min(paused_at)), 0)::float8 as "overdueS"
    from (${sql.join(each, sql` union all `)}) untold)`;
};

/** @param afterMs a place that takes nothing for this long is paused */
export function createCircuits(db: Database, receivers: Receivers, afterMs: number) {
  const [table, on, name] = [receivers.table, receivers.on, receivers.name].map((each) => sql.identifier(each));
  const isTooMany = sql`coalesce(failing_since < now() - ${afterMs} * interval '1 ms', false)`;

  return {
    /**
     * Records how an attempt ended. It writes only where something moves: a first failure, the failure that is one too
     * many, or something taken after failures. Repeating it changes nothing.
     * @param which selects the receiver of the attempt
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

    /** Each call gives others, so that a place whose owners cannot be told does not hold up the rest. */
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
