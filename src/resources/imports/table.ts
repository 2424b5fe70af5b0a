import { sql } from 'drizzle-orm';
import { bigint, boolean, index, integer, jsonb, pgEnum, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { createdAt, instant } from '../../platform/db/columns.ts';
import { workspaces } from '../workspaces/table.ts';
import { IMPORT_PHASES, IMPORT_STATUSES, type ImportResult } from './model.ts';

export const importStatus = pgEnum('import_status', IMPORT_STATUSES);
export const importPhase = pgEnum('import_phase', IMPORT_PHASES);

/** Archives that are brought into a workspace, and how far that is. */
export const workspaceImports = pgTable(
  'workspace_imports',
  {
    /** The Temporal workflow is `import-<id>`. */
    id: uuid('id').primaryKey(),
    customerId: text('customer_id')
      .notNull()
      .references(() => workspaces.customerId),
    status: importStatus('status').notNull().default('uploading'),
    requestedBy: text('requested_by').notNull(),
    /** As whoever sends it announced it: it is checked before anything is brought. */
    sizeBytes: bigint('size_bytes', { mode: 'number' }).notNull(),
    sha256: text('sha256').notNull(),
    /** So many parts are there, the first ones. */
    parts: integer('parts').notNull().default(0),
    phase: importPhase('phase'),
    /** What the archive says that it is; null until it was looked through. */
    archiveId: uuid('archive_id'),
    source: text('source'),
    asOf: instant('as_of'),
    entries: integer('entries'),
    /** Another workspace of this deployment has ids that the archive has: all get others. */
    areIdsTaken: boolean('are_ids_taken'),
    /** So many files of the archive are brought. */
    position: integer('position').notNull().default(0),
    result: jsonb('result').$type<ImportResult>(),
    errorCode: text('error_code'),
    errorMessage: text('error_message'),
    /** At this time housekeeping looks whether it is going on, or whether its upload was given up. */
    dueAt: instant('due_at').notNull(),
    createdAt: createdAt(),
    completedAt: instant('completed_at'),
  },
  (t) => [
    index('workspace_imports_by_workspace').on(t.customerId, t.createdAt),
    // One at a time: two would bring the same twice at once.
    uniqueIndex('workspace_imports_one_open')
      .on(t.customerId)
      .where(sql`${t.status} in ('uploading', 'queued', 'running')`),
    index('workspace_imports_under_way')
      .on(t.customerId, t.dueAt)
      .where(sql`${t.status} in ('uploading', 'queued', 'running')`),
  ],
);
