/** What whoever pays is to be told of spending, each once. */
import { sql } from 'drizzle-orm';
import { date, index, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { createdAt, instant, usd } from '../../platform/db/columns.ts';
import type { SpendingTopic } from './notices/model.ts';

/** Triggers write it (`sql/`): where a booking crosses a threshold of a cap, and where a call had no known price. */
export const spendingNotices = pgTable(
  'spending_notices',
  {
    customerId: text('customer_id').notNull(),
    /** Names what is told, so that it is told once: `workspace.month/2026-11-01/80/25`, `unpriced/2026-11-25`. */
    key: text('key').notNull(),
    /** Receivers know a repeat by it. */
    id: uuid('id')
      .notNull()
      .default(sql`uuid_by_time()`),
    topic: text('topic').$type<SpendingTopic>().notNull(),
    capId: text('cap_id'),
    periodStart: date('period_start'),
    /** Percent of the limit. */
    threshold: integer('threshold'),
    spentUsd: usd('spent_usd'),
    limitUsd: usd('limit_usd'),
    /** The run whose call had no known price. */
    runId: text('run_id'),
    /** Who has been told: `owners`, and ids of output destinations. */
    toldTo: text('told_to').array().notNull().default([]),
    attempts: integer('attempts').notNull().default(0),
    dueAt: instant('due_at').notNull().defaultNow(),
    /** Everybody has been told, or nobody is to be: a higher threshold was crossed at once. */
    toldAt: instant('told_at'),
    createdAt: createdAt(),
  },
  (t) => [
    primaryKey({ columns: [t.customerId, t.key] }),
    // Housekeeping finds by it what is to be told.
    index('spending_notices_untold')
      .on(t.dueAt)
      .where(sql`${t.toldAt} is null`),
  ],
);
