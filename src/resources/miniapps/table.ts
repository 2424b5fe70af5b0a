import { sql } from 'drizzle-orm';
import { index, jsonb, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { createdAt, instant } from '../../platform/db/columns.ts';
import { runs } from '../runs/table.ts';

/** A page that a call of a run opened for a person, and what the person sent. */
export const miniappPages = pgTable(
  'miniapp_pages',
  {
    id: text('id').primaryKey(),
    customerId: text('customer_id').notNull(),
    runId: text('run_id')
      .notNull()
      .references(() => runs.id, { onDelete: 'cascade' }),
    callId: text('call_id').notNull(),
    tool: text('tool').notNull(),
    html: text('html').notNull(),
    submitted: jsonb('submitted').$type<unknown>(),
    submittedAt: instant('submitted_at'),
    /** Calls that wait for the submission and have not been told of it: `<run id>/<call id>`. */
    waits: text('waits').array().notNull().default([]),
    expiresAt: instant('expires_at').notNull(),
    createdAt: createdAt(),
  },
  (t) => [
    // A repeated call finds by it the page that it made.
    uniqueIndex('miniapp_pages_once_per_call').on(t.runId, t.callId),
    // Housekeeping finds by it pages that are submitted and of which somebody has not heard.
    index('miniapp_pages_untold')
      .on(t.submittedAt)
      .where(sql`${t.submittedAt} is not null and ${t.waits} <> '{}'`),
  ],
);
