/**
 * What can be searched: a document for each run, project, artifact, file and event, with its words. Triggers keep it (`sql/`),
 * in the statements that write what it is of; nothing else writes it.
 */
import { customType, index, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { instant } from '../../platform/db/columns.ts';
import type { SearchKind } from './model.ts';

const words = customType<{ data: string }>({ dataType: () => 'tsvector' });

export const searchDocuments = pgTable(
  'search_documents',
  {
    kind: text('kind').$type<SearchKind>().notNull(),
    /** The id of what it is of; of an event of `log_events` `log-<seq>`, of one of `run_events` `log-r<id>`. */
    subject: text('subject').notNull(),
    customerId: text('customer_id').notNull(),
    /** When it was made. */
    at: instant('at').notNull(),
    /** With the marks of the workspace, the kind, the status and the agent. */
    words: words('words').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.kind, t.subject] }),
    // It serves words that many documents have: the newest of them are found by walking backwards.
    index('search_documents_by_time').on(t.customerId, t.at, t.subject),
    // It serves all other words.
    index('search_documents_by_word').using('gin', t.words),
  ],
);
