/**
 * Reads and writes JSON files that hold secrets: they are readable by this user alone, and written whole or not at all,
 * also when the machine loses its power.
 */
import { readFile } from 'node:fs/promises';
import { errorCodeOf } from '../platform/core/causes.ts';
import { writeDurably } from '../platform/files/durable.ts';

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

export const writePrivateJson = (file: string, value: unknown): Promise<void> =>
  writeDurably(file, `${JSON.stringify(value, null, 2)}\n`, `${file}.${process.pid}`);
