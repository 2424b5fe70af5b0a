/** Puts an event into the log as a piece of the statement that makes it true. */
import { sql, type SQL } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import type { LoggedKind } from '../model.ts';

/** A value, or an expression over the columns of `guard`. */
type Given = string | SQL;

export interface NewLogEvent {
  kind: LoggedKind;
  /** What happened, in a word of its kind. */
  topic: Given;
  /** The id of what it happened to: the wait, the delivery, the job. */
  subject: Given;
  customerId: Given;
  /** The run that it belongs to, for those who follow one run or project. */
  runId?: Given | null;
  projectId?: Given | null;
  payload?: Record<string, unknown> | SQL;
}

/**
 * `insert ... select` of the event for each row of the relation `guard`, a CTE of the same statement or a table: so it is
 * there if, and only if, what it tells of is.
 *
 *     with opened as (insert into waits (...) values (...) on conflict do nothing returning id, customer_id)
 *     ${insertLogEvent(sql`opened`, { kind: 'wait', topic: 'opened', subject: sql`guard.id`, customerId: sql`guard.customer_id` })}
 *
 * As one CTE of several: `, told as (${insertLogEvent(...)})`.
 */
export const insertLogEvent = (
  guard: SQL,
  { kind, topic, subject, customerId, runId = null, projectId = null, payload = {} }: NewLogEvent,
): SQL => sql`
  insert into log_events (customer_id, kind, topic, subject, run_id, project_id, payload)
  select ${customerId}::text, ${kind}, ${topic}::text, ${subject}::text, ${runId}::text, ${projectId}::text,
    ${'queryChunks' in payload ? payload : sql`${JSON.stringify(payload)}::jsonb`}
  from ${guard} guard`;

/** An event of which nothing else is written, or whose fact another statement of the same transaction wrote. */
const writeLogEvent = (db: Database, event: NewLogEvent): Promise<unknown> =>
  db.rows(insertLogEvent(sql`(select 1)`, event));

/** The same, where a unique index says which event that would be, and it is there already: then nothing is written. */
export const writeLogEventOnce = (db: Database, event: NewLogEvent): Promise<unknown> =>
  db.rows(sql`${insertLogEvent(sql`(select 1)`, event)} on conflict do nothing`);

interface Schedule {
  customerId: string;
  /** `custom-<n>`, the id of a job that ships, or that of a heartbeat. */
  id: string;
  of: 'job' | 'heartbeat';
}

/** In the transaction that changes the row of a schedule. Nothing where it was not switched. */
export async function noteSwitched(
  db: Database,
  { customerId, id, of }: Schedule,
  { before, after }: { before: boolean; after: boolean },
): Promise<void> {
  if (before === after) return;
  const topic = after ? 'switched_on' : 'switched_off';
  await writeLogEvent(db, { kind: 'schedule', topic, subject: id, customerId, payload: { of } });
}

/** @returns whether the log tells of a firing of a schedule that it was missed */
export async function isFiringMissed(db: Database, customerId: string, firing: string): Promise<boolean> {
  const [row] = await db.rows<{ found: number }>(sql`
    select 1 as found from log_events
    where customer_id = ${customerId} and kind = 'schedule' and topic = 'missed' and payload ->> 'firing' = ${firing}`);
  return row !== undefined;
}

/**
 * A part of a statement: keeps in the log what stood in a table that is a part of the log and loses these rows, each in the
 * place that it had.
 * @param rows selects `customer_id`, `tx`, `seq`, `ts`, `kind`, `topic`, `subject`, `run_id` and `payload`
 */
export const keepInLog = (rows: SQL): SQL => sql`
  insert into log_events (customer_id, tx, seq, ts, kind, topic, subject, run_id, payload) ${rows}`;
