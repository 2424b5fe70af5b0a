/**
 * Reads and writes JSON files that hold secrets: they are readable by this user alone, and written whole or not at all.
 */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { errorCodeOf } from '../platform/core/causes.ts';

/** @returns undefined where there is no file @throws Error that names the file where it is not JSON */
export async function readPrivateJson<T>(file: string): Promise<T | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return JSON.parse(text) as T;
  } catch {
    // A damaged file is never replaced automatically: what it held may be the only key to stored data.
    throw new Error(`${file} is damaged: restore it, or delete it to start without what it held`);
  }
}

export async function writePrivateJson(file: string, value: unknown): Promise<void> {
  const unfinished = `${file}.${process.pid}`;
  await writeFile(unfinished, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  await rename(unfinished, file);
}
