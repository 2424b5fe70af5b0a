/**
 * Records what Node's `fs` does to files and tells what a power loss would take: bytes that nobody synced since they were
 * written, and renames whose directories nobody synced. The name of a new file is on the disk with the file's first sync,
 * which Postgres relies on.
 */
import fs from 'node:fs';
import { dirname, resolve } from 'node:path';

export interface DiskRecord {
  /** Paths that are not on the disk yet, sorted. */
  unsynced(): string[];
  /** Syncs so far. */
  syncs: number;
  stop(): void;
}

/**
 * Records the synchronous calls of this process, which are those of PGlite.
 * @param isRebuilt files whose loss is harmless
 */
export function recordDisk(isRebuilt: (path: string) => boolean): DiskRecord {
  const dirty = new Set<string>();
  const paths = new Map<number, string>();
  const record: DiskRecord = {
    unsynced: () => [...dirty].filter((path) => !isRebuilt(path)).sort(),
    syncs: 0,
    stop: () => Object.assign(fs, written, { fsyncSync, fdatasyncSync }),
  };
  const { openSync, writeSync, ftruncateSync, truncateSync, writeFileSync, renameSync, unlinkSync } = fs;
  const { fsyncSync, fdatasyncSync } = fs;
  const written = { openSync, writeSync, ftruncateSync, truncateSync, writeFileSync, renameSync, unlinkSync };
  const pathOf = (fd: number) => paths.get(fd) ?? `file descriptor ${fd}`;

  fs.openSync = (path, ...rest) => {
    const fd = openSync(path, ...rest);
    paths.set(fd, resolve(String(path)));
    return fd;
  };
  fs.writeSync = ((fd: number, ...rest: [never]) => {
    dirty.add(pathOf(fd));
    return writeSync(fd, ...rest);
  }) as typeof fs.writeSync;
  fs.ftruncateSync = (fd, length) => {
    dirty.add(pathOf(fd));
    ftruncateSync(fd, length);
  };
  fs.truncateSync = (path, length) => {
    dirty.add(resolve(String(path)));
    truncateSync(path, length);
  };
  fs.writeFileSync = (path, ...rest) => {
    dirty.add(resolve(String(path)));
    writeFileSync(path, ...rest);
  };
  fs.renameSync = (from, to) => {
    const [source, target] = [resolve(String(from)), resolve(String(to))];
    renameSync(from, to);
    if (dirty.delete(source)) dirty.add(target);
    else dirty.delete(target);
    if (!isRebuilt(target)) dirty.add(dirname(source)).add(dirname(target));
  };
  fs.unlinkSync = (path) => {
    dirty.delete(resolve(String(path)));
    unlinkSync(path);
  };
  fs.fsyncSync = (fd) => {
    fsyncSync(fd);
    record.syncs += 1;
    dirty.delete(pathOf(fd));
  };
  fs.fdatasyncSync = (fd) => {
    const isDirectory = fs.fstatSync(fd).isDirectory();
    fdatasyncSync(fd);
    record.syncs += 1;
    // The names in a directory are no data.
    if (!isDirectory) dirty.delete(pathOf(fd));
  };
  return record;
}
