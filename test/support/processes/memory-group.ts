/** A control group with a bound of memory and without swap, in which a test starts processes. Linux, as root. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

export interface MemoryGroup {
  /** A program with its arguments: it enters the group, and is then what is named after it. */
  launcher: readonly string[];
  /** @returns how many processes the system has killed there for want of memory */
  killed(): Promise<number>;
  /** Kills what is left of its processes. */
  close(): Promise<void>;
}

const ROOT = '/sys/fs/cgroup';
const LEAVING_MS = 5_000;

/** @throws Error where none can be made here */
export async function makeMemoryGroup(bytes: number): Promise<MemoryGroup> {
  const isV2 = existsSync(join(ROOT, 'cgroup.controllers'));
  const parent = isV2 ? ROOT : join(ROOT, 'memory');
  if (isV2) await writeFile(join(parent, 'cgroup.subtree_control'), '+memory');
  const group = join(parent, `aos-test-${process.pid}-${Math.random().toString(36).slice(2)}`);
  await mkdir(group);
  const file = (name: string) => join(group, name);
  await writeFile(file(isV2 ? 'memory.max' : 'memory.limit_in_bytes'), String(bytes));
  // A system may be without swap, or not count it.
  const [swap, most] = isV2 ? ['memory.swap.max', 0] : ['memory.memsw.limit_in_bytes', bytes];
  if (existsSync(file(swap))) await writeFile(file(swap), String(most));
  return {
    launcher: ['sh', '-c', 'echo $$ > "$0" && exec "$@"', file('cgroup.procs')],
    async killed() {
      const text = await readFile(file(isV2 ? 'memory.events' : 'memory.oom_control'), 'utf8');
      return Number(/^oom_kill (\d+)$/m.exec(text)?.[1]);
    },
    async close() {
      for (const from = performance.now(); ; await setTimeout(50)) {
        try {
          return await rmdir(group);
        } catch (error) {
          const waited = performance.now() - from;
          if (waited > 2 * LEAVING_MS) throw error;
          const left = waited > LEAVING_MS ? await readFile(file('cgroup.procs'), 'utf8') : '';
          for (const pid of left.split('\n').filter(Boolean)) process.kill(Number(pid), 'SIGKILL');
        }
      }
    },
  };
}
