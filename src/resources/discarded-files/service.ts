/** Deletes files that nothing refers to, as soon as the storage takes it. */
import type { FileStore } from '../../platform/files/files.ts';
import { isStorageAway } from '../../platform/files/storage-away.ts';
import type { DiscardedFileStore } from './store.ts';

interface Dependencies {
  store: Pick<DiscardedFileStore, 'listDue' | 'noteDeleted' | 'postpone'>;
  files: Pick<FileStore, 'delete' | 'deleteAll'>;
}

/** One round takes so many. */
const BATCH = 50;
/** Storage that is away is asked this often. */
const AGAIN_MS = 30_000;

/** Makes the chore. It does not fail while the storage is away, which others tell. */
export const createDiscardSweep =
  ({ store, files }: Dependencies) =>
  async (signal: AbortSignal): Promise<void> => {
    for (const { key } of await store.listDue(BATCH)) {
      if (signal.aborted) return;
      try {
        await (key.endsWith('/') ? files.deleteAll(key.slice(0, -1)) : files.delete(key));
      } catch (error) {
        if (!isStorageAway(error)) throw error;
        return store.postpone(AGAIN_MS);
      }
      await store.noteDeleted(key);
    }
  };
