/** What tests need and the repository does not have is made once, in the project's cache, and is whole or not there. */
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A path in the project's cache, which is never committed. */
export const inCache = (...path: string[]): string =>
  join(fileURLToPath(new URL('../../../.cache', import.meta.url)), ...path);

/**
 * Of two processes at once both make it, and either one is whole.
 * @param folder where it is to be
 * @param make fills a folder of another name, which then gets this one
 */
export async function makeOnce(folder: string, make: (unfinished: string) => Promise<void>): Promise<void> {
  if (existsSync(folder)) return;
  const unfinished = `${folder}.${process.pid}`;
  try {
    await mkdir(dirname(folder), { recursive: true });
    await make(unfinished);
    await rename(unfinished, folder).catch((error: NodeJS.ErrnoException) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}
