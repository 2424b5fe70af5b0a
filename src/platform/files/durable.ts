/**
 * Writes files that survive a power loss. The system keeps written bytes, new names and renames in memory for many
 * seconds; a sync brings them to the disk. When one of these functions resolves, its effect is on the disk.
 *
 * Everything below DATA_DIR is written through this module: `test/architecture/durable-writes.test.ts` checks that.
 */
import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { errorCodeOf } from '../core/causes.ts';

/** Syncs the bytes of a file, or the names in a directory. */
export async function syncPath(path: string): Promise<void> {
  await using file = await open(path);
  await file.sync();
}

interface DirectoryOptions {
  mode?: number;
  /** Syncs the directories from here down even if they exist: another process may have created them a moment ago. */
  from?: string;
}

/** Creates a directory with its parents. A directory that exists already is no error. */
export async function makeDirectoryDurably(path: string, { mode, from }: DirectoryOptions = {}): Promise<void> {
  const full = resolve(path);
  const created = await mkdir(full, { recursive: true, mode });
  const changed = [...(created === undefined ? [] : [dirname(resolve(created))]), ...(from ? [resolve(from)] : [])];
  const top = changed.sort((a, b) => a.length - b.length)[0] ?? full;
  for (let parent = full; parent !== top;) {
    parent = dirname(parent);
    await syncPath(parent);
  }
}

/** Replaces a file. After a power loss the file has its old content or its new content, and is never empty. */
export async function writeDurably(path: string, content: string | Buffer, unfinished: string): Promise<void> {
  await replace(path, unfinished, () => writeFile(unfinished, content, { mode: 0o600, flush: true }));
}

/** Replaces a file as `writeDurably` does. If the stream fails, the file stays as it was. */
export async function writeStreamDurably(path: string, stream: Readable, unfinished: string): Promise<void> {
  const write = () => pipeline(stream, createWriteStream(unfinished, { flags: 'wx', mode: 0o600, flush: true }));
  await replace(path, unfinished, write);
}

/** @param unfinished a path in the same directory, removed if the write fails */
async function replace(path: string, unfinished: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  await syncPath(dirname(path));
}

/** Moves what another program wrote, a file or a directory tree, to its final name once its content is on the disk. */
export async function publishDurably(unfinished: string, path: string): Promise<void> {
  await syncTree(unfinished);
  await rename(unfinished, path);
  await syncPath(dirname(path));
}

/** Syncs a file, or a directory with everything below it. */
export async function syncTree(path: string): Promise<void> {
  if (!(await stat(path)).isDirectory()) return syncPath(path);
  // One call for the whole file system. A database has a thousand files, and each sync of its own waits for the disk.
  if (process.platform === 'linux' && (await syncFileSystem(path))) return;
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    if (entry.isFile() || entry.isDirectory()) await syncPath(join(entry.parentPath, entry.name));
  }
  await syncPath(path);
}

/** @returns false if this machine has no program that can do it */
const syncFileSystem = (path: string): Promise<boolean> =>
  promisify(execFile)('sync', ['-f', path]).then(
    () => true,
    () => false,
  );

/** Syncs the directory of a deleted file, so that the file does not return. The directory may be gone too. */
export async function syncDeletion(path: string): Promise<void> {
  for (let parent = dirname(path); ; parent = dirname(parent)) {
    try {
      return await syncPath(parent);
    } catch (error) {
      if (errorCodeOf(error) !== 'ENOENT') throw error;
    }
  }
}
