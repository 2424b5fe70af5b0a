/**
 * What models are writing at this moment, for those who watch: nothing here is a fact, and nothing is missed when it is gone.
 * Both tables are unlogged, which a migration says: a crash of the database empties them.
 */
import { index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { instant } from '../../platform/db/columns.ts';
import { runs } from '../runs/table.ts';

/** Watches last for as long as somebody renews them. No text is written that is not watched. */
export const textWatches = pgTable(
  'text_watches',
  {
    customerId: text('customer_id').notNull(),
    /** `run:<id>`, `project:<id>`, or `*` for all of the workspace. */
    watched: text('watched').notNull(),
    until: instant('until').notNull(),
  },
  (t) => [primaryKey({ columns: [t.customerId, t.watched] })],
);

/** The text of the call that a watched run is in, as far as it has come. */
export const runTexts = pgTable(
  'run_texts',
  {
    runId: text('run_id')
      .primaryKey()
      .references(() => runs.id, { onDelete: 'cascade' }),
    customerId: text('customer_id').notNull(),
    projectId: text('project_id'),
    turn: integer('turn').notNull(),
    /** The attempt of the activity: another one writes the text anew. */
    attempt: integer('attempt').notNull(),
    /** Counted in UTF-16 units, as readers count: it tells whether there is more. */
    length: integer('length').notNull(),
    text: text('text').notNull(),
    writtenAt: instant('written_at').notNull().defaultNow(),
  },
  (t) => [index('run_texts_by_workspace').on(t.customerId)],
);
