/** What a proof that failed leaves behind. */
import { cp, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const KEPT = fileURLToPath(new URL('../../.cache/proof/', import.meta.url));
/** Where a run of that name leaves it. */
export const keptAt = (name: string): string => join(KEPT, name);

/**
 * @param folder with the log of each process
 * @param name of the run
 * @returns where they are
 */
export async function keepLogs(folder: string, name: string): Promise<string> {
  const kept = keptAt(name);
  await mkdir(kept, { recursive: true });
  for (const file of await readdir(folder)) if (file.endsWith('.log')) await cp(join(folder, file), join(kept, file));
  return kept;
}
