/**
 * A directory on a small disk of its own, a tmpfs that only those see who are started with its launcher. It stays for as
 * long as whoever mounted it, whoever of the others is killed. Linux, as root or where anybody may have mounts of their own.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { present } from '../../../src/platform/core/present.ts';
import { freeBytes } from '../../../src/platform/files/disk.ts';
import { reasonOf } from '../programs/missing.ts';

export interface SmallDisk {
  /** A program with its arguments: it sees the disk, and is then what is named after it. */
  launcher: readonly string[];
  /** The directory as this process sees it. */
  inside: string;
  /** Writes until no more than that is free. */
  leave(bytes: number): Promise<void>;
  /** Removes what was written for that. */
  makeRoom(): Promise<void>;
  /** The disk is gone with the last process that sees it. */
  close(): Promise<void>;
}

const isRoot = (): boolean => present(process.getuid)() === 0;

/** A program that mounts this, for itself alone, and is then what is named after it. */
export const having = (mount: string): string[] => [
  ...['unshare', '--mount', ...(isRoot() ? [] : ['--map-root-user'])],
  ...['sh', '-c', `${mount} && exec "$@"`, 'sh'],
];

/** Why there are none here; undefined where there are. */
export const reasonAgainstMounts = (): Promise<string | undefined> =>
  reasonOf(promisify(execFile)('unshare', [...having('true').slice(1), 'true']));

const FILLING = 'filling-';

/** @param directory one that is there, and empty */
export async function mountSmallDisk(directory: string, bytes: number): Promise<SmallDisk> {
  const [program, ...args] = having(`mount -t tmpfs -o size=${bytes} tmpfs ${directory} && echo mounted`);
  // Ends with its input, and so with this process, however that ends.
  const keeper = spawn(present(program), [...args, 'cat'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(keeper, 'exit');
  await Promise.race([
    once(keeper.stdout, 'data'),
    ended.then(([code]) => Promise.reject(new Error(`no disk was mounted at ${directory}: ${code}`))),
  ]);
  const inside = join(`/proc/${keeper.pid}/root`, directory);
  return {
    inside,
    launcher: [
      ...['nsenter', '--mount', '--target', String(keeper.pid)],
      ...(isRoot() ? [] : ['--user', '--preserve-credentials']),
    ],
    async leave(wanted) {
      const surplus = (await freeBytes(inside)) - wanted;
      // The last of it may be taken by somebody else meanwhile.
      if (surplus > 0) await writeFile(join(inside, `${FILLING}${surplus}`), Buffer.alloc(surplus)).catch(() => {});
    },
    async makeRoom() {
      for (const name of await readdir(inside)) if (name.startsWith(FILLING)) await rm(join(inside, name));
    },
    async close() {
      keeper.kill('SIGKILL');
      await ended;
    },
  };
}
