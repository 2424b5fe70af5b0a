/** Files that nothing refers to, and that the storage has not deleted yet. */
import { index, pgTable, text } from 'drizzle-orm/pg-core';
import { createdAt, instant } from '../../platform/db/columns.ts';

export const discardedFiles = pgTable(
  'discarded_files',
  {
    /** A folder ends with a slash. */
    key: text('key').primaryKey(),
    /** The first deletion. A write that was given up may arrive after it, so that there is a second one. */
    deletedAt: instant('deleted_at'),
    dueAt: instant('due_at').notNull().defaultNow(),
    createdAt: createdAt(),
  },
  (t) => [index('discarded_files_due').on(t.dueAt)],
);
