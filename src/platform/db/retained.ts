/**
 * What is deleted when it is old, one statement a table. Each takes a bounded number of rows and finds them by an index,
 * also where there are none: what a run or a delivery left behind by its id, as ids begin with their time. A statement
 * is done when it deletes fewer rows than it may.
 *
 * Only what nothing works with any more: of runs and deliveries that have ended, of projects that stand still. Files are
 * none of it: what runs saved and people attached stays, as the rows that name it do.
 */
import { sql, type SQL } from 'drizzle-orm';
import { firstUuid } from '../core/ids.ts';

/** Each kind has a setting that says how long its rows are kept. */
export type RetainedKind = 'run_details' | 'events' | 'deliveries' | 'otp' | 'audit' | 'idempotency_keys';

/** Selects `deleted`, the number of rows that went. */
export type RetentionStatement = (before: Date, limit: number) => SQL;

/** What one resource deletes; the statements of a kind run in this order. */
export type Retained = Readonly<Partial<Record<RetainedKind, readonly RetentionStatement[]>>>;

export const time = (at: Date): SQL => sql`${at.toISOString()}::timestamptz`;

/** Deletes rows by their place, as nothing else writes to them any more. */
export const deleting = (table: string, rows: SQL): SQL =>
  sql`delete from ${sql.identifier(table)} where ctid = any(array(${rows}))`;

export const counting = (deletion: SQL): SQL =>
  sql`with gone as (${deletion} returning 1) select count(*)::int as deleted from gone`;

/** Deletes the rows whose time in `column` has passed. */
export const deletingOlder =
  (table: string, column: string, more = sql``): RetentionStatement =>
  (before, limit) => {
    const at = sql`d.${sql.identifier(column)}`;
    return counting(
      deleting(
        table,
        sql`select d.ctid from ${sql.identifier(table)} d where ${at} < ${time(before)} ${more} order by ${at} limit ${limit}`,
      ),
    );
  };

/** Deletes deliveries that have ended. */
export const deletingEndedDeliveries =
  (table: string): RetentionStatement =>
  (before, limit) =>
    counting(
      deleting(
        table,
        sql`select d.ctid from ${sql.identifier(table)} d where d.id < ${firstUuid(before.getTime())}::uuid and d.status <> 'pending'
          and d.completed_at < ${time(before)} order by d.id limit ${limit}`,
      ),
    );
