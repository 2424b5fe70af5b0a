/**
 * The log of a workspace is three tables in one order: `run_events`, `project_events`, and this one for every kind of event
 * that has no table of its own. What they share are the columns of `eventPlace`.
 */
import { sql } from 'drizzle-orm';
import { index, jsonb, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { eventPlace, instant } from '../../platform/db/columns.ts';
import type { EventKind } from './model.ts';

export const logEvents = pgTable(
  'log_events',
  {
    customerId: text('customer_id').notNull(),
    ...eventPlace(),
    ts: instant('ts').notNull().defaultNow(),
    /** `run`: an event of a run that was withdrawn, at the place that it had. Its payload is the row as the timeline had it. */
    kind: text('kind').$type<Exclude<EventKind, 'project'>>().notNull(),
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
    // It serves who follows runs alone, for whom nearly all that is here is nothing.
    index('log_events_of_withdrawn_runs')
      .on(t.customerId, t.tx, t.seq)
      .where(sql`kind = 'run'`),
    // An activity that is repeated after a crash tells of the same firing again.
    uniqueIndex('log_events_missed_once')
      .on(t.customerId, sql`(payload ->> 'firing')`)
      .where(sql`kind = 'schedule' and topic = 'missed'`),
  ],
);
