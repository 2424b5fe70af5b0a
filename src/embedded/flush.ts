/**
 * Brings what another process writes into a file to the disk little by little. The embedded Temporal brings its log there
 * only when it is 32 MB long, all at once, for which one start of a workflow in thirty waited a tenth of a second; and of a
 * machine that loses its power all of that was lost.
 */
import { statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncPath } from '../platform/files/durable.ts';

/** Short beside the time in which the kernel would begin by itself, and long beside what there is to bring. */
const EVERY_MS = 200;

async function toDisk(path: string, isFirst: boolean): Promise<void> {
  await using file = await open(path);
  await file.datasync();
  // The name of a new file is in its directory, which a sync of the file need not bring to the disk.
  if (isFirst) await syncPath(dirname(path));
}

/**
 * @param path may not be there yet, or not any more
 * @returns ends it
 */
export function keepFlushed(path: string, { everyMs = EVERY_MS, flush = toDisk } = {}): () => void {
  let seen: number | undefined;
  let isFlushing = false;
  async function look(): Promise<void> {
    const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (isFlushing || changed === undefined || changed === seen) return;
    isFlushing = true;
    try {
      await flush(path, seen === undefined);
      // As of before: what was written meanwhile is another change.
      seen = changed;
    } finally {
      isFlushing = false;
    }
  }
  // Whoever writes the file learns from the disk itself what is wrong with it.
  const timer = setInterval(() => void look().catch(() => {}), everyMs).unref();
  return () => clearInterval(timer);
}
