/**
 * What is deleted when it is old, one statement a table. Each takes a bounded number of rows and finds them by an index,
 * also where there are none: what a run or a delivery left behind by its id, as ids begin with their time. A statement
 * is done when it deletes fewer rows than it may.
 *
 * Only what nothing works with any more: of runs and deliveries that have ended, of projects that stand still. Files are
 * none of it: what runs saved and people attached stays, as the rows that name it do.
 */
import { sql, type SQL } from 'drizzle-orm';
import { encodeTime } from 'ulid';
import { firstUuid } from '../../platform/core/ids.ts';
import { first } from '../../platform/core/present.ts';
import type { Database } from '../../platform/db/client.ts';
import { GOING_PROJECT } from '../projects/store/statuses.ts';

export type RetentionStore = ReturnType<typeof createRetentionStore>;

/** Each kind has a setting that says how long its rows are kept. */
export type RetainedKind = 'run_details' | 'events' | 'deliveries' | 'otp' | 'audit' | 'idempotency_keys';

type Statement = (before: Date, limit: number) => SQL;

/** @returns the lowest id that can be made at this time */
const firstRunId = (at: Date): string => encodeTime(at.getTime(), 10).toLowerCase();
const time = (at: Date): SQL => sql`${at.toISOString()}::timestamptz`;

/** Deletes rows by their place, as nothing else writes to them any more. */
const deleting = (table: string, rows: SQL): SQL =>
  sql`delete from ${sql.identifier(table)} where ctid = any(array(${rows}))`;
const counting = (deletion: SQL): SQL =>
  sql`with gone as (${deletion} returning 1) select count(*)::int as deleted from gone`;

/** The run is looked up row by row: in a join a plan could begin with all the runs there ever were. */
const runEnded = (before: Date): SQL =>
  sql`(select r.completed_at from runs r where r.id = d.run_id) < ${time(before)}`;
const ofEndedRuns = (table: string, before: Date, limit: number, more = sql``): SQL =>
  deleting(
    table,
    sql`select d.ctid from ${sql.identifier(table)} d where d.run_id < ${firstRunId(before)} and ${runEnded(before)} ${more}
      order by d.run_id limit ${limit}`,
  );
const expired = (table: string, before: Date, limit: number, more = sql``): SQL =>
  deleting(
    table,
    sql`select d.ctid from ${sql.identifier(table)} d where d.expires_at < ${time(before)} ${more} order by d.expires_at limit ${limit}`,
  );
/** Mails of codes are counted by these rows for an hour, so they are never deleted sooner, whatever the setting. */
const uncounted = sql`and d.created_at < now() - interval '1 hour'`;
const endedDeliveries = (table: string, before: Date, limit: number): SQL =>
  deleting(
    table,
    sql`select d.ctid from ${sql.identifier(table)} d where d.id < ${firstUuid(before.getTime())}::uuid and d.status <> 'pending'
      and d.completed_at < ${time(before)} order by d.id limit ${limit}`,
  );

/**
 * Readers who would go on from before the deleted events are told that these are missing.
 * @param gone a CTE with `customer_id`, `tx`
 */
const noteMissing = (gone: SQL): SQL => sql`
  update workspaces w set events_from = g.tx + 1
  from (select customer_id, max(tx) as tx from ${gone} gone group by customer_id) g
  where w.customer_id = g.customer_id and w.events_from <= g.tx`;
const countingEvents = (deletion: SQL): SQL => sql`
  with gone as (${deletion} returning customer_id, tx), missing as (${noteMissing(sql`gone`)})
  select count(*)::int as deleted from gone`;

export const STATEMENTS: Readonly<Record<RetainedKind, readonly Statement[]>> = {
  run_details: [
    // Pages go before the calls that they belong to, and not while a person may still open them.
    (before, limit) => counting(ofEndedRuns('miniapp_pages', before, limit, sql`and d.expires_at < ${time(before)}`)),
    (before, limit) =>
      counting(
        ofEndedRuns(
          'run_tool_calls',
          before,
          limit,
          sql`and not exists (select 1 from miniapp_pages p where p.run_id = d.run_id)`,
        ),
      ),
    (before, limit) => counting(ofEndedRuns('run_messages', before, limit)),
  ],
  events: [
    // The list of runs says how many events can be read.
    (before, limit) => sql`
      with gone as (${ofEndedRuns('run_events', before, limit)} returning run_id, customer_id, tx),
      missing as (${noteMissing(sql`gone`)}),
      counts as (select run_id, count(*)::int as events from gone group by run_id),
      counted as (update runs r set event_count = r.event_count - c.events from counts c where r.id = c.run_id)
      select coalesce(sum(events), 0)::int as deleted from counts`,
    // It goes workspace by workspace, as the index of times does.
    (before, limit) =>
      countingEvents(
        deleting(
          'project_events',
          sql`select d.place from workspaces w cross join lateral (
              select e.ctid as place from project_events e where e.customer_id = w.customer_id and e.ts < ${time(before)}
                and (select p.status from projects p where p.id = e.project_id) not in ${GOING_PROJECT}
              order by e.ts limit ${limit}) d
            limit ${limit}`,
        ),
      ),
    (before, limit) =>
      countingEvents(
        deleting(
          'log_events',
          sql`select d.ctid from log_events d where d.ts < ${time(before)} order by d.ts limit ${limit}`,
        ),
      ),
  ],
  deliveries: [
    (before, limit) => counting(endedDeliveries('webhook_deliveries', before, limit)),
    (before, limit) => counting(endedDeliveries('output_deliveries', before, limit)),
    // Counts are those of a day.
    (_before, limit) =>
      counting(
        deleting(
          'output_mail_counts',
          sql`select d.ctid from output_mail_counts d where d.day < (now() at time zone 'utc')::date - 1 order by d.day limit ${limit}`,
        ),
      ),
    (before, limit) =>
      counting(
        deleting(
          'webhook_events',
          sql`select d.ctid from webhook_events d where d.created_at < ${time(before)}
            and not exists (select 1 from webhook_deliveries w where w.event_key = d.event_key)
            order by d.created_at limit ${limit}`,
        ),
      ),
    (before, limit) =>
      counting(
        deleting(
          'delivery_slots',
          sql`select d.ctid from delivery_slots d where d.held_until < ${time(before)} order by d.held_until limit ${limit}`,
        ),
      ),
  ],
  otp: [
    (before, limit) => counting(expired('otp_challenges', before, limit, uncounted)),
    (before, limit) => counting(expired('login_challenges', before, limit, uncounted)),
    (before, limit) => counting(expired('ended_sessions', before, limit)),
  ],
  idempotency_keys: [
    (before, limit) =>
      counting(
        deleting(
          'idempotency_keys',
          sql`select d.ctid from idempotency_keys d where d.created_at < ${time(before)} order by d.created_at limit ${limit}`,
        ),
      ),
  ],
  audit: [
    (before, limit) =>
      counting(
        deleting(
          'audit_log',
          sql`select d.ctid from audit_log d where d.created_at < ${time(before)} order by d.created_at limit ${limit}`,
        ),
      ),
  ],
};

export const createRetentionStore = (db: Database) => ({
  /** By the clock of the database, as the rows' own times are. */
  async now(): Promise<Date> {
    const { now } = first(await db.rows<{ now: string }>(sql`select now()::text as now`));
    return new Date(now);
  },

  /** @returns how many rows the statement deleted */
  async delete(statement: Statement, before: Date, limit: number): Promise<number> {
    const { deleted } = first(await db.rows<{ deleted: number }>(statement(before, limit)));
    return deleted;
  },
});
