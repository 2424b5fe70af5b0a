/** Words and rules of imports. Workflows use them too, so nothing here asks the world. */

/**
 * - `uploading`: waits for the parts of its archive
 * - `queued`: all of it is there
 * - `running`: it is looked through, and then brought
 * - `done`: everything that can be brought is; `result` says what could not
 * - `failed`: the archive is not whole, or not one; `error_code` and `error_message` say why
 * - `removed`: somebody stopped it, or never sent all of it; what was brought until then stays
 */
export const IMPORT_STATUSES = ['uploading', 'queued', 'running', 'done', 'failed', 'removed'] as const;

export const IMPORT_PHASES = ['checking', 'bringing'] as const;

/** What is wrong with an archive, or why it was not looked at. */
export const IMPORT_FAILURES = [
  'archive_damaged',
  'archive_refused',
  'archive_unsupported',
  'import_lost',
  'storage_full',
  'timed_out',
  'internal_error',
] as const;
export type ImportFailure = (typeof IMPORT_FAILURES)[number];

export interface ImportRef {
  customerId: string;
  importId: string;
}

export const importWorkflowId = ({ importId }: ImportRef): string => `import-${importId}`;

/** Uploaded parts lie there. */
export const importFolder = ({ customerId, importId }: ImportRef): string => `imports/${customerId}/${importId}`;

/** An archive may be so large; each part has the size of those of an export. */
export const MAX_ARCHIVE_BYTES = 64 * 1024 ** 3;
export const MAX_PARTS = 8_192;

/** An upload that nobody goes on with is given up after this time. */
export const UPLOAD_TTL_S = 24 * 3_600;

/** Something that was not brought, and why. */
interface Refused {
  what: string;
  why: string;
}

export interface ImportResult {
  /** By table, and `manifests` and `files` beside them. */
  brought: Record<string, number>;
  /** They were there already: by an earlier import, or since the workspace has one of that name. */
  there: Record<string, number>;
  /** The first of those that were not brought, and how many there are. */
  refused: Refused[];
  refused_count: number;
  /** Runs and projects that were under way, and are brought as ended. */
  ended: number;
}

export const emptyResult = (): ImportResult => ({ brought: {}, there: {}, refused: [], refused_count: 0, ended: 0 });

const MAX_NAMED = 200;
const MAX_WORDS = 300;

export function noteRefused(result: ImportResult, what: string, why: string, count = 1): void {
  result.refused_count += count;
  if (result.refused.length < MAX_NAMED) {
    result.refused.push({ what: what.slice(0, MAX_WORDS).toWellFormed(), why: why.slice(0, MAX_WORDS).toWellFormed() });
  }
}

export const noteBrought = (counts: Record<string, number>, what: string, count: number): void => {
  if (count > 0) counts[what] = (counts[what] ?? 0) + count;
};
