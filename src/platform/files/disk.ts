/** Watches the disk that holds the data directory: how much is free, and whether new work is still accepted. */
import { stat, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { causesOf } from '../core/causes.ts';
import { Problem } from '../core/problem.ts';

const MB = 1_024 ** 2;
/** So many bytes are kept free for accepted work, whose end has to be written down. */
export const DISK_RESERVE = 64 * MB;
/** Below so many bytes somebody is told. */
export const DISK_SHORT = 1_024 * MB;

/** Requests ask often; the file system is asked once in this time. */
const LOOK_MS = 1_000;

export interface Disk {
  /** @returns how many bytes the process may still write; undefined where it keeps nothing on this disk */
  free(): Promise<number | undefined>;
  /** @throws Problem storage_full where only the reserve is left */
  demandRoom(): Promise<void>;
}

/** @param isUsed says that something is kept there for sure; otherwise this is so if the directory exists */
export function createDisk(dataDir: string, isUsed: boolean): Disk {
  async function look(): Promise<number | undefined> {
    if (!isUsed && !(await exists(dataDir))) return undefined;
    return freeBytes(await nearestExisting(dataDir));
  }

  let looked: { at: number; found: Promise<number | undefined> } | undefined;
  function recently(): Promise<number | undefined> {
    if (!looked || performance.now() - looked.at > LOOK_MS) looked = { at: performance.now(), found: look() };
    return looked.found;
  }

  return {
    free: look,
    async demandRoom() {
      // Where the disk cannot be asked, work is accepted: a write will find out.
      const free = await recently().catch(() => undefined);
      if (free !== undefined && free < DISK_RESERVE) throw new Problem('storage_full');
    },
  };
}

export async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** @returns the directory, or the nearest one above it that exists, because looking must not create it */
export async function nearestExisting(path: string): Promise<string> {
  const full = resolve(path);
  const found = await stat(full).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  if (!found) return nearestExisting(dirname(full));
  if (!found.isDirectory()) throw new Error(`${full} is not a directory`);
  return full;
}

/** Errors of Node and Postgres that mean no space, or nothing left of a quota. */
const FULL = new Set(['ENOSPC', 'EDQUOT', '53100']);

/** @returns whether a write failed because a disk, of this machine or of the database, is full */
export const isStorageFull = (error: unknown): boolean =>
  [...causesOf(error)].some(({ code = '' }: Error & { code?: string }) => FULL.has(code));
