/**
 * What the processes of a system cost, read from /proc (Linux), and the promise that none outlives the benchmark: each
 * root is named to `endWithUs` and is killed with all below it when this process ends, however it ends.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { present } from '../../src/platform/core/present.ts';
import { sum } from './report.ts';

export const PARTS = ['service', 'postgres', 'temporal'] as const;
type Part = (typeof PARTS)[number];

interface ProcessInfo {
  pid: number;
  parent: number;
  /** User and system time of all its threads, and of its children that have ended. */
  cpuMs: number;
}

/** Linux counts in hundredths of a second on every architecture that Node runs on. */
const TICK_MS = 10;

/** The processes under these roots, roots included. */
function treeOf(roots: readonly number[]): ProcessInfo[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readStat(Number(name)));
  const tree = all.filter(({ pid }) => roots.includes(pid));
  // Grows while it is walked: children of children are met in turn.
  for (const { pid } of tree) tree.push(...all.filter(({ parent }) => parent === pid));
  return [...new Map(tree.map((one) => [one.pid, one])).values()];
}

function readStat(pid: number): ProcessInfo[] {
  try {
    // The name in parentheses may hold spaces; after it come state, parent, ... and from the 12th on the times, its own
    // and those of children that have ended: a backend of Postgres takes nothing back when it goes.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    if (fields[0] === 'Z') return [];
    return [{ pid, parent: Number(fields[1]), cpuMs: sum(fields.slice(11, 15).map(Number)) * TICK_MS }];
  } catch {
    return []; // ended meanwhile
  }
}

const parts = new Map<number, Part>();
function partOf(pid: number): Part {
  if (!parts.has(pid)) {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    parts.set(
      pid,
      command.includes('postgres-server') ? 'postgres' : command.includes('start-dev') ? 'temporal' : 'service',
    );
  }
  return present(parts.get(pid));
}

export type Cpu = Record<Part, number> & { total: number };

export const noCpu = (): Cpu => ({ service: 0, postgres: 0, temporal: 0, total: 0 });

/** CPU milliseconds used so far, by part. */
export function cpuOf(roots: readonly number[]): Cpu {
  const cpu = noCpu();
  for (const { pid, cpuMs } of treeOf(roots)) {
    cpu[partOf(pid)] += cpuMs;
    cpu.total += cpuMs;
  }
  return cpu;
}

/** Adds what was used between two readings. */
export function addCpu(sum: Cpu, from: Cpu, to: Cpu): void {
  for (const part of [...PARTS, 'total'] as const) sum[part] += to[part] - from[part];
}

/** Proportional set size in megabytes: what several processes share is counted once. */
export function memoryOf(roots: readonly number[]): number {
  const kilobytes = treeOf(roots).map(({ pid }) =>
    Number(present(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')))[1]),
  );
  return kilobytes.reduce((sum, one) => sum + one, 0) / 1_024;
}

const GONE_MS = 30_000;

/** Asks a process group to stop and waits until all under its leader are gone. */
export async function stopGroup(leader: number): Promise<void> {
  const pids = treeOf([leader]).map(({ pid }) => pid);
  process.kill(-leader, 'SIGTERM');
  for (const deadline = Date.now() + GONE_MS; pids.some((pid) => readStat(pid).length > 0);) {
    if (Date.now() > deadline) throw new Error(`process ${leader} did not stop in ${GONE_MS / 1_000} s`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const roots = new Set<number>();
const folders = new Set<string>();
export const endWithUs = (pid: number): unknown => roots.add(pid);
export const removeWithUs = (folder: string): unknown => folders.add(folder);

process.on('exit', () => {
  for (const { pid } of treeOf([...roots])) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // Gone with its parent.
    }
  }
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130));
