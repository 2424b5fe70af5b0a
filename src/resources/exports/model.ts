/** Words and rules of exports. Workflows use them too, so nothing here asks the world. */

/**
 * - `queued`: accepted, and not begun
 * - `running`: an archive is being made
 * - `ready`: the archive can be downloaded until `expires_at`
 * - `failed`: none was made; `error_code` says why
 * - `removed`: the archive is gone, by its time or by an owner
 */
export const EXPORT_STATUSES = ['queued', 'running', 'ready', 'failed', 'removed'] as const;

/** `rows`: what the database has; `files`: what was saved and attached; `closing`: the manifest, and what is left to be stored. */
export const EXPORT_PHASES = ['rows', 'files', 'closing'] as const;

export interface ExportRef {
  customerId: string;
  exportId: string;
}

export const exportWorkflowId = ({ exportId }: ExportRef): string => `export-${exportId}`;

/** An archive is stored in parts of this size: any range is read without what lies before it, and no store takes it all at once. */
export const PART_BYTES = 8 * 1024 ** 2;

export const ARCHIVE_TYPE = 'application/gzip';
export const ARCHIVE_FORMAT = 'aos-workspace-archive';
export const ARCHIVE_VERSION = 1;

/** What it is of, and when it was made. */
export const archiveName = (workspaceId: string, at: Date): string =>
  `${workspaceId.replace(/[^\w-]/g, '-')}-${at.toISOString().slice(0, 16).replace(/\D/g, '')}.tar.gz`;

/** All archives of a workspace, and all tries of one, lie below a folder. */
export const exportFolder = ({ customerId, exportId }: ExportRef): string => `exports/${customerId}/${exportId}`;

export interface ExportProgress {
  phase: (typeof EXPORT_PHASES)[number];
  tables: number;
  rows: number;
  files: number;
}

/** Why no archive came of an export. */
export const EXPORT_FAILURES = ['export_lost', 'storage_full', 'timed_out', 'internal_error'] as const;
export type ExportFailure = (typeof EXPORT_FAILURES)[number];
