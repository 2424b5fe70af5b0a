/** Brings archives into workspaces. What a try has brought is noted, so that the next one goes on after it. */
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Log } from '../src/platform/core/log.ts';
import { present } from '../src/platform/core/present.ts';
import { isStorageFull } from '../src/platform/files/disk.ts';
import type { FileStore } from '../src/platform/files/files.ts';
import { readParts } from '../src/platform/files/parts.ts';
import { PART_BYTES } from '../src/resources/exports/model.ts';
import { checkArchive } from '../src/resources/imports/archive/check.ts';
import { ArchiveError } from '../src/resources/imports/archive/refused.ts';
import { bringArchive, type BringDependencies } from '../src/resources/imports/bring/bring.ts';
import { emptyResult, importFolder, type ImportFailure, type ImportRef } from '../src/resources/imports/model.ts';
import type { ImportRow, ImportStore } from '../src/resources/imports/store.ts';
import { heartbeating } from './failures.ts';

export interface ImportDependencies extends Omit<BringDependencies, 'fileKeyOf'> {
  store: ImportStore;
  files: FileStore;
  log: Log;
}

export const createImportActivities = ({ store, files, log, ...needs }: ImportDependencies) => {
  /** Runs a part of the work on an import that is still wanted. */
  const step = (ref: ImportRef, work: (row: ImportRow, signal: AbortSignal) => Promise<void>): Promise<void> =>
    heartbeating(async (signal) => {
      const row = await store.begin(ref);
      if (!row) return;
      try {
        await work(row, signal);
      } catch (error) {
        Context.current().cancellationSignal.throwIfAborted();
        // Somebody removed it meanwhile.
        if (!(await store.begin(ref))) return;
        if (error instanceof ArchiveError) throw ApplicationFailure.nonRetryable(error.message, error.code);
        // Its own words may have something of what it was reading.
        log.error({ err: error, import_id: ref.importId }, 'an import failed');
        const type: ImportFailure = isStorageFull(error) ? 'storage_full' : 'internal_error';
        throw ApplicationFailure.create({ type, message: `the archive could not be brought: ${type}` });
      }
    });
  const archiveOf =
    (ref: ImportRef, { sizeBytes }: ImportRow) =>
    () =>
      readParts(files, { folder: importFolder(ref), partBytes: PART_BYTES }, { from: 0, to: sizeBytes - 1 });

  return {
    checkImport: (ref: ImportRef): Promise<void> =>
      step(ref, async (row, signal) => {
        if (row.archiveId !== null) return;
        const { customerId } = ref;
        const { sizeBytes, sha256 } = row;
        let isTaken = false;
        const checked = await checkArchive(archiveOf(ref, row), {
          sizeBytes,
          sha256,
          signal,
          async seen(table, ids) {
            isTaken ||= await store.areTaken(customerId, table, ids);
          },
        });
        const before = await store.idsWereTaken(customerId, checked.archiveId);
        await store.recordChecked(ref, checked, before ?? isTaken);
      }),

    bringImport: (ref: ImportRef): Promise<void> =>
      step(ref, async (row, signal) => {
        const { sizeBytes, position } = row;
        await bringArchive({ ...needs, files, fileKeyOf: store.fileKeyOf }, archiveOf(ref, row)(), {
          customerId: ref.customerId,
          sizeBytes,
          asOf: present(row.asOf).toISOString(),
          areIdsTaken: present(row.areIdsTaken),
          position,
          result: row.result ?? emptyResult(),
          signal,
          note: (at, result) => store.recordBrought(ref, at, result),
        });
        await store.recordDone(ref);
      }),

    /** Deletes the archive that was uploaded. */
    dropImport: (ref: ImportRef): Promise<void> => files.deleteAll(importFolder(ref)),

    recordImportFailed: ({
      code,
      message,
      ...ref
    }: ImportRef & { code: ImportFailure; message: string }): Promise<void> => store.recordFailed(ref, code, message),
  };
};
