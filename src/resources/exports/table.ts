import { sql } from 'drizzle-orm';
import { bigint, check, index, integer, jsonb, pgEnum, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { createdAt, instant, startDue } from '../../platform/db/columns.ts';
import { workspaces } from '../workspaces/table.ts';
import { EXPORT_PHASES, EXPORT_STATUSES } from './model.ts';
import type { ExportSummary } from './archive/manifest.ts';

export const exportStatus = pgEnum('export_status', EXPORT_STATUSES);
export const exportPhase = pgEnum('export_phase', EXPORT_PHASES);

/** Archives of workspaces, and how far they are. */
export const workspaceExports = pgTable(
  'workspace_exports',
  {
    /** The Temporal workflow is `export-<id>`. */
    id: uuid('id').primaryKey(),
    customerId: text('customer_id')
      .notNull()
      .references(() => workspaces.customerId),
    status: exportStatus('status').notNull().default('queued'),
    requestedBy: text('requested_by').notNull(),
    phase: exportPhase('phase'),
    tablesDone: integer('tables_done').notNull().default(0),
    rowsDone: bigint('rows_done', { mode: 'number' }).notNull().default(0),
    filesDone: bigint('files_done', { mode: 'number' }).notNull().default(0),
    /** The parts of the archive lie in it. Each try has one of its own, so that one that was given up spoils nothing. */
    folder: text('folder'),
    sizeBytes: bigint('size_bytes', { mode: 'number' }),
    /** The SHA-256 of the archive. */
    sha256: text('sha256'),
    summary: jsonb('summary').$type<ExportSummary>(),
    errorCode: text('error_code'),
    /** At this time housekeeping looks whether it has begun, and whether it is still going on. */
    dueAt: startDue('due_at').notNull(),
    createdAt: createdAt(),
    completedAt: instant('completed_at'),
    expiresAt: instant('expires_at'),
  },
  (t) => [
    index('workspace_exports_by_workspace').on(t.customerId, t.createdAt),
    // One at a time: another one would read the same once more.
    uniqueIndex('workspace_exports_one_under_way')
      .on(t.customerId)
      .where(sql`${t.status} in ('queued', 'running')`),
    // Housekeeping finds by these what is under way, and what is past its time.
    index('workspace_exports_under_way')
      .on(t.customerId, t.dueAt)
      .where(sql`${t.status} in ('queued', 'running')`),
    index('workspace_exports_by_expiry')
      .on(t.expiresAt)
      .where(sql`${t.status} = 'ready'`),
    check(
      'workspace_exports_ready_whole',
      sql`(${t.status} = 'ready') <= (num_nonnulls(${t.folder}, ${t.sizeBytes}, ${t.sha256}, ${t.summary}, ${t.completedAt}, ${t.expiresAt}) = 6)`,
    ),
  ],
);
