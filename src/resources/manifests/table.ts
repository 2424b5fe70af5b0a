import { index, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { instant } from '../../platform/db/columns.ts';
import { workspaces } from '../workspaces/table.ts';
import { MANIFEST_KINDS } from './model.ts';

/** What was last brought from a file: where it came from, and what it was then. */
export const manifestOrigins = pgTable(
  'manifest_origins',
  {
    customerId: text('customer_id')
      .notNull()
      .references(() => workspaces.customerId),
    kind: text('kind', { enum: MANIFEST_KINDS }).notNull(),
    name: text('name').notNull(),
    /** Whose files these are, where several repositories have one workspace: each prunes its own alone. */
    source: text('source').notNull(),
    file: text('file'),
    /** As whoever applied it named it: a commit. */
    revision: text('revision'),
    /** Of the content, without its secrets. */
    contentHash: text('content_hash').notNull(),
    /** When files made the thing; null if it was there before, made by hand. Pruning deletes what files made. */
    createdAt: instant('created_at'),
    appliedBy: text('applied_by').notNull(),
    appliedAt: instant('applied_at').notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.customerId, t.kind, t.name] }),
    index('manifest_origins_by_source').on(t.customerId, t.source),
  ],
);
