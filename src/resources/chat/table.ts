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
    /** Null lets the classifier pick an agent for each message. */
    agentSlug: text('agent_slug'),
    createdBy: text('created_by').notNull(),
    createdAt: createdAt(),
    /** The time of the last message. */
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  // It serves the list, which begins with the thread that was last used.
  (t) => [index('chat_threads_by_use').on(t.customerId, t.updatedAt, t.id)],
);
