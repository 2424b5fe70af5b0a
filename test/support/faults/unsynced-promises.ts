/**
 * Records the promises of Node's `fs`, and its streams, in this process: tells what a power loss would take. Each call is
 * carried out for real.
 */
import fs, { type PathLike } from 'node:fs';
import promises, { type FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, resolve, sep } from 'node:path';

const real = { ...promises };
const { createWriteStream } = fs;

const dirty = new Set<string>();
const pathOf = (path: PathLike | FileHandle): string => resolve(String(path));
const isAtOrBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}${sep}`);

/** Paths of bytes that nobody synced since they were written, and of directories whose new names nobody synced. */
export const unsyncedBelow = (folder: string): string[] =>
  [...dirty].filter((path) => isAtOrBelow(path, folder)).sort();

/** For what another program wrote: from here on it counts as written and not synced. */
export const wroteUnsynced = (...paths: string[]): void => paths.forEach((path) => dirty.add(resolve(path)));

/** @param flush whether the write syncs what it wrote before it resolves */
function wrote(path: string, { flush = false }: { flush?: boolean }): void {
  if (flush) dirty.delete(path);
  else dirty.add(path);
  dirty.add(dirname(path));
}

const recorded = {
  async open(...args: Parameters<typeof real.open>) {
    const handle = await real.open(...args);
    const path = pathOf(args[0]);
    if (/[wa+]/.test(String(args[1] ?? 'r'))) dirty.add(path);
    const { sync, datasync } = handle;
    handle.sync = async () => {
      await sync.call(handle);
      dirty.delete(path);
    };
    handle.datasync = async () => {
      const isDirectory = (await handle.stat()).isDirectory();
      await datasync.call(handle);
      if (!isDirectory) dirty.delete(path);
    };
    return handle;
  },
  async writeFile(...args: Parameters<typeof real.writeFile>) {
    await real.writeFile(...args);
    wrote(pathOf(args[0]), Object(args[2]));
  },
  async mkdir(path: PathLike, options?: { recursive?: boolean; mode?: number }) {
    const created = await real.mkdir(path, options);
    const top = options?.recursive ? created : String(path);
    if (top !== undefined) {
      for (let made = pathOf(path); isAtOrBelow(made, pathOf(top)); made = dirname(made)) dirty.add(dirname(made));
    }
    return created;
  },
  async rename(from: PathLike, to: PathLike) {
    const [source, target] = [pathOf(from), pathOf(to)];
    await real.rename(from, to);
    for (const path of [...dirty].filter((each) => isAtOrBelow(each, source))) {
      dirty.delete(path);
      dirty.add(`${target}${path.slice(source.length)}`);
    }
    dirty.add(dirname(source)).add(dirname(target));
  },
  async rm(path: PathLike, options?: Parameters<typeof real.rm>[1]) {
    const wasThere = fs.existsSync(path);
    await real.rm(path, options);
    for (const each of [...dirty].filter((below) => isAtOrBelow(below, pathOf(path)))) dirty.delete(each);
    if (wasThere) dirty.add(dirname(pathOf(path)));
  },
  async unlink(path: PathLike) {
    await real.unlink(path);
    dirty.delete(pathOf(path));
    dirty.add(dirname(pathOf(path)));
  },
};

/** Begins to record. @returns ends it */
export function recordPromises(): () => void {
  Object.assign(promises, recorded);
  fs.createWriteStream = (...args) => {
    const stream = createWriteStream(...args);
    // The listener is the first one, so that the file counts as written before anybody hears of its end.
    stream.prependListener('close', () => wrote(pathOf(args[0]), Object(args[1])));
    return stream;
  };
  syncBuiltinESMExports();
  return () => {
    Object.assign(promises, real);
    fs.createWriteStream = createWriteStream;
    syncBuiltinESMExports();
  };
}
