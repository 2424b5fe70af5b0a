import { index, jsonb, pgTable, text } from 'drizzle-orm/pg-core';
import { createdAt, instant } from '../../platform/db/columns.ts';
import { runs } from '../runs/table.ts';

/** A page that a call of a run opened for a person, and what the person sent. */
export const miniappPages = pgTable(
  'miniapp_pages',
  {
    id: text('id').primaryKey(),
    /** SHA-256 of the token in the page's address, which is nowhere else. */
    tokenHash: text('token_hash').notNull().unique(),
    customerId: text('customer_id').notNull(),
    runId: text('run_id')
      .notNull()
      .references(() => runs.id, { onDelete: 'cascade' }),
    callId: text('call_id').notNull(),
    tool: text('tool').notNull(),
    html: text('html').notNull(),
    submitted: jsonb('submitted').$type<unknown>(),
    submittedAt: instant('submitted_at'),
    expiresAt: instant('expires_at').notNull(),
    createdAt: createdAt(),
  },
  (t) => [index('miniapp_pages_of_run').on(t.runId, t.callId)],
);
