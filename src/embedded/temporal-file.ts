/** The database file of the embedded Temporal. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';

/**
 * Deletes a file that a first start left unfinished. Temporal makes its tables only in a file that does not exist yet, so
 * after a kill or a power loss in between it would never start again. It adds its namespaces last, and no work before.
 */
export async function removeUnfinishedDatabase(file: string): Promise<void> {
  if (!existsSync(file) || hasNamespaces(file)) return;
  for (const suffix of ['-wal', '-shm', '']) await rm(`${file}${suffix}`, { force: true });
}

function hasNamespaces(file: string): boolean {
  // A connection that may write would bring all of the log into the file when it is closed.
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    return db.prepare('select 1 from namespaces limit 1').get() !== undefined;
  } catch (error) {
    // A file that is damaged in any other way may have workflows in it.
    if (/no such table/.test(String(error))) return false;
    return true;
  } finally {
    db.close();
  }
}
