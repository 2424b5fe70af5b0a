/**
 * Has activities wait while the file storage is away. A tool or a turn of a run gives its slot back, and its workflow asks
 * again, for as long as it takes. What has hours and a slot for itself waits where it is.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { isStorageAway } from '../src/platform/files/storage-away.ts';

/** A workflow asks again after this time. */
export const STORAGE_WAIT_MS = 5_000;
const LOOK_EVERY_MS = 5_000;

/** Repeats work that the storage did not let come to its end. */
export async function outlastingStorage<T>(
  signal: AbortSignal,
  work: () => Promise<T>,
  lookEveryMs = LOOK_EVERY_MS,
): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isStorageAway(error)) throw error;
      await wait(lookEveryMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}
