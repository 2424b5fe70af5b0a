/**
 * The log of a workspace is three tables in one order: `run_events`, `project_events`, and this one for every kind of event
 * that has no table of its own. What they share are the columns of `eventPlace`.
 */
import { sql } from 'drizzle-orm';
import { index, jsonb, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { eventPlace, instant } from '../../platform/db/columns.ts';
import type { LoggedKind } from './model.ts';

export const logEvents = pgTable(
  'log_events',
  {
    customerId: text('customer_id').notNull(),
    ...eventPlace(),
    ts: instant('ts').notNull().defaultNow(),
    kind: text('kind').$type<LoggedKind>().notNull(),
    /** What happened, in a word of its kind: `opened`, `delivered`. */
    topic: text('topic').notNull(),
    /** The id of what it happened to. */
    subject: text('subject').notNull(),
    runId: text('run_id'),
    projectId: text('project_id'),
    payload: jsonb('payload').$type<Record<string, unknown>>().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.customerId, t.tx, t.seq] }),
    // Retention deletes by it.
    index('log_events_by_time').on(t.ts),
    // An activity that is repeated after a crash tells of the same firing again.
    uniqueIndex('log_events_missed_once')
      .on(t.customerId, sql`(payload ->> 'firing')`)
      .where(sql`kind = 'schedule' and topic = 'missed'`),
  ],
);
