/**
 * A folder of this machine for what a process works on and does not keep. It is named after the process, so that what a
 * killed one has left is taken away by the next one that needs such a folder: it may be large, and somebody's.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorCodeOf } from '../core/causes.ts';

export interface Spool {
  path: string;
  /** Deletes it. */
  close(): Promise<void>;
}

const open = new Set<string>();

/** @param what the folders of one kind begin with this */
export async function openSpool(what: string): Promise<Spool> {
  await removeLeft(what);
  const path = await mkdtemp(join(tmpdir(), `${what}-${process.pid}-`));
  open.add(path);
  return {
    path,
    async close() {
      await rm(path, { recursive: true, force: true });
      open.delete(path);
    },
  };
}

async function removeLeft(what: string): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const [kind, pid] = [name.slice(0, what.length + 1), /^\d+(?=-)/.exec(name.slice(what.length + 1))?.[0]];
    if (kind !== `${what}-` || pid === undefined) continue;
    const path = join(tmpdir(), name);
    // In a container each process that is started has the number of the one before it.
    const isUsed = Number(pid) === process.pid ? open.has(path) : isAlive(Number(pid));
    // It may be somebody else's, who has a process of that kind of their own.
    if (!isUsed) await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCodeOf(error) !== 'ESRCH';
  }
}
