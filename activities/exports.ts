/** Makes archives of workspaces. A try notes in the row that it is the one that counts; one that does not any more leaves nothing. */
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { newUuid } from '../src/platform/core/ids.ts';
import type { Log } from '../src/platform/core/log.ts';
import { isStorageFull } from '../src/platform/files/disk.ts';
import type { FileStore } from '../src/platform/files/files.ts';
import { isStorageAway } from '../src/platform/files/storage-away.ts';
import { packWorkspace, type PackDependencies } from '../src/resources/exports/archive/pack.ts';
import {
  exportFolder,
  type ExportFailure,
  type ExportProgress,
  type ExportRef,
} from '../src/resources/exports/model.ts';
import type { ExportStore } from '../src/resources/exports/store/index.ts';
import { heartbeating } from './failures.ts';
import { outlastingStorage } from './storage-away.ts';

export interface ExportDependencies extends PackDependencies {
  store: ExportStore;
  files: FileStore;
  /** An archive is kept for this long. */
  ttlMs: number;
  log: Log;
}

/** How far it is, is told this often. */
const TELL_MS = 1_000;

export const createExportActivities = ({ store, files, ttlMs, log, ...needs }: ExportDependencies) => ({
  packExport: (ref: ExportRef): Promise<void> =>
    heartbeating((signal) =>
      outlastingStorage(signal, async () => {
        const folder = `${exportFolder(ref)}/${newUuid()}`;
        const row = await store.begin(ref, folder);
        // It was removed, or has been made: the try before this one ended without a word to Temporal.
        if (!row) return;
        const own = { ...ref, folder };
        const progress: ExportProgress = { phase: 'rows', tables: 0, rows: 0, files: 0 };
        const stopped = new AbortController();
        const tell = telling(async () => {
          if (!(await store.recordProgress(own, progress))) stopped.abort();
        });
        try {
          // What a try that was killed has stored counts no more, and nobody else would look for it before the archive expires.
          await files.deleteAll(exportFolder(ref));
          const whole = { ...own, progress, signal: AbortSignal.any([signal, stopped.signal]) };
          const packed = await packWorkspace({ ...needs, files }, whole);
          if (!(await store.recordReady(own, packed, ttlMs))) await files.deleteAll(folder);
        } catch (error) {
          // A try that the storage broke off is followed by one that deletes it.
          if (!isStorageAway(error)) await files.discardAll(folder);
          Context.current().cancellationSignal.throwIfAborted();
          if (stopped.signal.aborted) return;
          if (isStorageAway(error)) throw error;
          // Its own words may have something of what it was reading.
          log.error({ err: error, export_id: ref.exportId }, 'an export failed');
          const type: ExportFailure = isStorageFull(error) ? 'storage_full' : 'internal_error';
          throw ApplicationFailure.create({ type, message: `the archive could not be made: ${type}` });
        } finally {
          tell.stop();
        }
      }),
    ),

  /** Deletes what tries have left. */
  dropExport: (ref: ExportRef): Promise<void> => files.discardAll(exportFolder(ref)),

  recordExportFailed: ({ code, ...ref }: ExportRef & { code: ExportFailure }): Promise<void> =>
    store.recordFailed(ref, code),
});

/**
 * Repeats it beside what goes on. Where it fails nothing is lost: on a database of one connection it has to wait while the
 * rows are made, which may be longer than it may.
 */
function telling(tell: () => Promise<void>): { stop: () => void } {
  let isTelling = false;
  const timer = setInterval(() => {
    if (isTelling) return;
    isTelling = true;
    void tell()
      .catch(() => {})
      .finally(() => (isTelling = false));
  }, TELL_MS);
  return { stop: () => clearInterval(timer) };
}
