/** The ways a system is driven. Both systems go through the same code, so what the driver costs, both pay. */
import { itemAt } from '../../src/platform/core/present.ts';
import { addCpu, cpuOf, noCpu, type Cpu } from './processes.ts';
import type { System } from './systems.ts';

interface Latencies {
  /** Milliseconds from sending the request. */
  acceptMs: number[];
  terminalMs: number[];
  /** Milliseconds of CPU of the system, all runs together. */
  cpu: Cpu;
  /** Milliseconds of CPU of this process, which is no part of the system. */
  clientCpuMs: number;
}

export const ownCpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

async function oneRun(system: System) {
  const from = performance.now();
  const workflowId = await system.accept();
  const acceptMs = performance.now() - from;
  await system.result(workflowId);
  const at = performance.now();
  return { workflowId, acceptMs, terminalMs: at - from, at };
}

/** Runs one after another, in blocks that alternate between the systems so that a drift of the machine meets both. */
export async function oneAfterAnother(
  systems: readonly System[],
  { blocks, perBlock }: { blocks: number; perBlock: number },
): Promise<Latencies[]> {
  const all = systems.map((): Latencies => ({ acceptMs: [], terminalMs: [], cpu: noCpu(), clientCpuMs: 0 }));
  for (let block = 0; block < blocks; block++) {
    for (const [i, system] of systems.entries()) {
      const { acceptMs, terminalMs, cpu } = itemAt(all, i);
      const [from, ownFrom] = [cpuOf(system.roots), ownCpuMs()];
      const ids: string[] = [];
      for (let run = 0; run < perBlock; run++) {
        const one = await oneRun(system);
        acceptMs.push(one.acceptMs);
        terminalMs.push(one.terminalMs);
        ids.push(one.workflowId);
      }
      addCpu(cpu, from, cpuOf(system.roots));
      itemAt(all, i).clientCpuMs += ownCpuMs() - ownFrom;
      // Outside both clocks, the newest first: its workflow's end was known a moment ago.
      for (const id of ids.reverse()) await system.check(id);
    }
  }
  return all;
}

export interface Throughput {
  /** Runs that ended in time, and runs in all: those that were under way at the end too. */
  inTime: number;
  runs: number;
  ms: number;
  /** Runs a second in each third of the time. */
  thirds: number[];
  terminalMs: number[];
  cpu: Cpu;
  clientCpuMs: number;
}

/** So many callers, each of which asks for its next run as soon as its last one has ended. */
export async function underLoad(system: System, { callers, ms }: { callers: number; ms: number }): Promise<Throughput> {
  const [from, ownFrom, startedAt] = [cpuOf(system.roots), ownCpuMs(), performance.now()];
  const ends: number[] = [];
  const terminalMs: number[] = [];
  const caller = async () => {
    while (performance.now() - startedAt < ms) {
      const one = await oneRun(system);
      ends.push(one.at - startedAt);
      terminalMs.push(one.terminalMs);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const cpu = noCpu();
  addCpu(cpu, from, cpuOf(system.roots));
  const third = (n: number) => ends.filter((end) => end < ms && Math.floor((3 * end) / ms) === n).length / (ms / 3_000);
  return {
    inTime: ends.filter((end) => end < ms).length,
    runs: ends.length,
    ms,
    thirds: [third(0), third(1), third(2)],
    terminalMs,
    cpu,
    clientCpuMs: ownCpuMs() - ownFrom,
  };
}

/** Milliseconds each of so many calls took, one after another, after a tenth as many that do not count. */
export async function timeCalls(count: number, call: (i: number) => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let i = -Math.ceil(count / 10); i < count; i++) {
    const from = performance.now();
    await call(Math.abs(i));
    if (i >= 0) times.push(performance.now() - from);
  }
  return times;
}
