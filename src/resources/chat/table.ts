import { index, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { createdAt, instant } from '../../platform/db/columns.ts';
import { workspaces } from '../workspaces/table.ts';

/** A conversation. Its messages are runs whose `thread_id` is its id. */
export const chatThreads = pgTable(
  'chat_threads',
  {
    id: uuid('id').primaryKey(),
    customerId: text('customer_id')
      .notNull()
      .references(() => workspaces.customerId),
    /** Null until the first message gives it one. */
    title: text('title'),
    /** Null: the classifier picks for each message. */
    agentSlug: text('agent_slug'),
    createdBy: text('created_by').notNull(),
    createdAt: createdAt(),
    /** Of the last message. */
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  // The list, the one that was last used first.
  (t) => [index('chat_threads_by_use').on(t.customerId, t.updatedAt, t.id)],
);
