/** The disk that the data directory is on: what is free of it, and when it takes nothing new. */
import { stat, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { causesOf } from '../core/causes.ts';
import { Problem } from '../core/problem.ts';

const MB = 1_024 ** 2;
/** Kept for what was accepted: its end has to be written down. In bytes, as all here. */
export const DISK_RESERVE = 64 * MB;
/** With less than this somebody is to be told. */
export const DISK_SHORT = 1_024 * MB;

/** Requests ask; the file system is asked so often. */
const LOOK_MS = 1_000;

export interface Disk {
  /** Bytes that a process of ours may still write; undefined where it keeps nothing there. */
  free(): Promise<number | undefined>;
  /** @throws Problem storage_full when only the reserve is left */
  demandRoom(): Promise<void>;
}

/** @param isUsed whether something is kept there for sure; else it is if the directory exists */
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
      // A disk that says nothing is no reason to refuse: a write will find out.
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

/** The directory, or the one it would be made in: looking must not make it. */
export async function nearestExisting(path: string): Promise<string> {
  const full = resolve(path);
  const found = await stat(full).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  if (!found) return nearestExisting(dirname(full));
  if (!found.isDirectory()) throw new Error(`${full} is not a directory`);
  return full;
}

/** No space, or none left of a quota: what Node's and Postgres' errors say of it. */
const FULL = new Set(['ENOSPC', 'EDQUOT', '53100']);

/** Whether something could not be written as a disk, of this machine or of the database, is full. */
export const isStorageFull = (error: unknown): boolean =>
  [...causesOf(error)].some(({ code = '' }: Error & { code?: string }) => FULL.has(code));
