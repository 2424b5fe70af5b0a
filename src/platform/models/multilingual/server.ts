/**
 * Runs the multilingual model beside the service: a child on a loopback port of its own, which is started again when it
 * ends, and which ends with this process, however that ends (see serve.py).
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../core/causes.ts';
import type { Log } from '../../core/log.ts';
import { ModelFailure } from '../types.ts';
import { installMultilingual, lowerPriority, PYTHON_ENV } from './install.ts';

const PROGRAM = fileURLToPath(new URL('./serve.py', import.meta.url));
const NAME = 'the multilingual embedding model';
const START_TIMEOUT_MS = 60_000;
/** A caller waits so long for a start. An installation takes longer: it is not waited for. */
const PATIENCE_MS = 8_000;
const FIRST_WAIT_MS = 200;
const MAX_WAIT_MS = 60_000;
/** A child that ran so long starts again at once. */
const SETTLED_MS = 60_000;
const STOP_MS = 2_000;

const STARTING = 'it is being started';
const INSTALLING = 'it is being installed';

export type MultilingualServer = ReturnType<typeof createMultilingualServer>;

/** Starts nothing by itself. */
export function createMultilingualServer(dataDir: string, log: Pick<Log, 'info' | 'warn' | 'error'>) {
  let child: ChildProcess | undefined;
  let address: string | undefined;
  let state = STARTING;
  let running: Promise<void> | undefined;
  const closing = new AbortController();
  const changes = new EventTarget();

  /** Serves until the child ends. @throws Error when it cannot be installed or started */
  async function serve(): Promise<void> {
    state = STARTING;
    const python = await installMultilingual(dataDir, (line) => {
      state = INSTALLING;
      log.info(line);
    });
    if (closing.signal.aborted) return;
    state = STARTING;
    const started = spawn(python, [PROGRAM], { env: PYTHON_ENV, stdio: ['pipe', 'pipe', 'pipe'] });
    child = started;
    lowerPriority(started.pid);
    started.stdin.on('error', () => {});
    createInterface({ input: started.stderr }).on('line', (line) => log.warn({ line }, NAME));
    const end = Promise.race([once(started, 'exit'), once(started, 'error')]);
    try {
      const port = await portOf(started, end);
      address = `http://127.0.0.1:${port}/v1`;
      log.info({ pid: started.pid, port }, `${NAME} runs`);
      changes.dispatchEvent(new Event('up'));
      await end;
    } finally {
      address = undefined;
      started.kill('SIGKILL');
    }
  }

  async function keepRunning(): Promise<void> {
    for (let waitMs = FIRST_WAIT_MS; !closing.signal.aborted; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
      const from = performance.now();
      try {
        await serve();
        state = 'it ended by itself';
      } catch (error) {
        state = messageOf(error);
      }
      if (closing.signal.aborted) return;
      if (performance.now() - from > SETTLED_MS) waitMs = FIRST_WAIT_MS;
      log.error({ wait_ms: waitMs }, `${NAME} does not run: ${state}`);
      changes.dispatchEvent(new Event('down'));
      await setTimeout(waitMs, undefined, { signal: closing.signal }).catch(() => {});
    }
  }

  const start = (): void => void (running ??= keepRunning());

  return {
    start,
    /** Waits for the first start, also while the model is installed. @throws Error when that fails */
    async started(): Promise<void> {
      start();
      if (address !== undefined) return;
      await new Promise<void>((resolve, reject) => {
        changes.addEventListener('up', () => resolve(), { once: true });
        changes.addEventListener('down', () => reject(new Error(`${NAME} does not run: ${state}`)), { once: true });
      });
    },
    /** @returns the address to ask @throws ModelFailure where it does not run yet */
    async address(signal?: AbortSignal): Promise<string> {
      start();
      const until = performance.now() + PATIENCE_MS;
      while (address === undefined && performance.now() < until && state !== INSTALLING) {
        await setTimeout(50, undefined, { signal });
      }
      if (address !== undefined) return address;
      const text = `The multilingual embedding model does not run: ${state}. Try again in some seconds.`;
      throw new ModelFailure('model_unavailable', text, { retryable: true, retryAfterMs: 5_000 });
    },
    async close(): Promise<void> {
      closing.abort();
      child?.stdin?.end();
      const timer = setTimeout(STOP_MS, undefined, { ref: false }).then(() => child?.kill('SIGKILL'));
      await running;
      void timer;
    },
  };
}

/** @returns the port that the child took @throws Error when it ends before, or takes too long */
async function portOf(child: ChildProcess, end: Promise<unknown>): Promise<number> {
  const { stdout } = child;
  if (!stdout) throw new Error('it has no output');
  const said = new Promise<number>((resolve) => {
    createInterface({ input: stdout }).on('line', (line) => {
      const [, port] = /^port (\d+)$/.exec(line) ?? [];
      if (port !== undefined) resolve(Number(port));
    });
  });
  const ended = end.then(() => {
    throw new Error('it ended while it was starting');
  });
  const late = setTimeout(START_TIMEOUT_MS, undefined, { ref: false }).then(() => {
    throw new Error('it did not start in time');
  });
  return Promise.race([said, ended, late]);
}
