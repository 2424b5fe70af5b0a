/**
 * Tells how much memory a process and all that it started hold, by /proc. Limits of the kernel are for one process
 * each.
 */
import { readdir, readFile } from 'node:fs/promises';

const HELD = /^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm;

/** @returns bytes, and 0 for a process that has ended; what two of them share counts twice */
export async function memoryOf(pid: number): Promise<number> {
  try {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    const own = [...status.matchAll(HELD)].reduce((sum, [, kilobytes]) => sum + Number(kilobytes) * 1_024, 0);
    const children = await Promise.all((await childrenOf(pid)).map(memoryOf));
    return children.reduce((sum, bytes) => sum + bytes, own);
  } catch {
    // The process has ended meanwhile.
    return 0;
  }
}

const childrenOf = async (pid: number): Promise<number[]> => {
  const threads = await readdir(`/proc/${pid}/task`);
  const lists = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8')));
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
};
