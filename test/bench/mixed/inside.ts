/**
 * Loaded into each process of the service that is measured (`NODE_OPTIONS`): on SIGUSR2 it collects garbage in every
 * thread and writes what is left, and how many statements were sent to Postgres so far, to `inside-<pid>.json`. With
 * `BENCH_PROFILES`, a folder, each thread also writes a CPU profile of the time since the last signal there.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BroadcastChannel, isMainThread, threadId } from 'node:worker_threads';
import { present } from '../../../src/platform/core/present.ts';

/** What one process says of itself. */
export interface Inside {
  /** Bytes that are reachable: of all its threads, with buffers outside of their heaps. */
  liveBytes: number;
  statements: number;
}

/** Workflows run in threads of their own, each with a heap of its own. */
const threads = new BroadcastChannel('bench-collect-garbage');
threads.unref();
/** For what is freed by finalizers of what was freed before. */
const PASSES = 3;
const ANSWER_MS = 500;

function live(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const profiles = process.env.BENCH_PROFILES;
const profiler = profiles ? new Session() : undefined;
profiler?.connect();
profiler?.post('Profiler.enable');
profiler?.post('Profiler.start');
let profiled = 0;

function writeProfile(): void {
  profiler?.post('Profiler.stop', (_error, { profile }) => {
    const root = process.argv[1]?.match(/(\w+)\.ts$/)?.[1] ?? 'process';
    const name = `${root}-${process.pid}-${threadId}-${++profiled}.cpuprofile`;
    writeFileSync(join(present(profiles), name), JSON.stringify(profile));
    profiler.post('Profiler.start');
  });
}

async function collect(): Promise<number> {
  writeProfile();
  for (let pass = 0; pass < PASSES; pass++) {
    present(globalThis.gc)();
    await sleep(20);
  }
  return live();
}

if (isMainThread) {
  const { default: pg } = await import('pg');
  let statements = 0;
  const { prototype } = pg.Client;
  const query = prototype.query as (...args: unknown[]) => unknown;
  prototype.query = function (this: unknown, ...args: unknown[]) {
    statements++;
    return query.apply(this, args);
  } as typeof prototype.query;

  const ofThreads: number[] = [];
  threads.onmessage = (message) => {
    const { data } = message as { data: { live?: number } };
    if (data.live !== undefined) ofThreads.push(data.live);
  };
  process.on('SIGUSR2', () => {
    void (async () => {
      ofThreads.length = 0;
      threads.postMessage({});
      const own = await collect();
      await sleep(ANSWER_MS);
      const inside: Inside = { liveBytes: ofThreads.reduce((sum, each) => sum + each, own), statements };
      const file = `inside-${process.pid}.json`;
      writeFileSync(`${file}.new`, JSON.stringify(inside));
      renameSync(`${file}.new`, file);
    })();
  });
} else {
  threads.onmessage = (message) => {
    const { data } = message as { data: { live?: number } };
    if (data.live === undefined) void collect().then((bytes) => threads.postMessage({ live: bytes }));
  };
}
