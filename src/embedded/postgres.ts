/** Starts and stops the embedded Postgres (see postgres-server.ts). */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ConfigError } from '../platform/core/config.ts';
import { isMemoryLittle, killedLine } from './memory.mjs';
import { endOf, type EmbeddedServer } from './supervise.ts';

export type PostgresServerMessage = { event: 'stop' } | { event: 'watch'; pid: number };

export interface EmbeddedPostgres extends EmbeddedServer {
  /** The address is `postgres://...`; the database takes one connection at a time. */
  url: string;
  /** Makes the server end this process too when the parent is gone without a goodbye. */
  watch(pid: number): void;
}

export interface EmbeddedPostgresOptions {
  /** The path of a directory, or `memory://`. */
  dataDir: string;
  port?: number;
  /** Where there is no data directory yet, it begins as a copy of this one, if that is there. */
  from?: string;
}

const NAME = 'the embedded Postgres';
const SERVER = fileURLToPath(new URL('./postgres-server.ts', import.meta.url));
const START_TIMEOUT_MS = 120_000;
/** Outside of Postgres' own memory there are messages, which die young. V8 would give them 128 MB under load, and keep them. */
const YOUNG = '--max-semi-space-size=4';
/** Each function of Postgres is compiled once, and not again and better when it is used much. */
const UNOPTIMISED = '--liftoff-only';
/** Compiling Postgres takes 50 MB, which glibc would keep for the threads that did it. */
const MEMORY_IS_GIVEN_BACK = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072' };

export async function startPostgres({ dataDir, port = 0, from }: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const child = fork(SERVER, [dataDir, String(port), ...(from ? [from] : [])], {
    execArgv: ['--disable-warning=ExperimentalWarning', YOUNG, ...(isMemoryLittle() ? [UNOPTIMISED] : [])],
    env: { ...process.env, ...MEMORY_IS_GIVEN_BACK },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    detached: true,
  });
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-4_000)));
  const exited = endOf(child);

  const listening = await new Promise<number>((resolve, reject) => {
    const timer = setTimeout(() => fail('did not start in time'), START_TIMEOUT_MS);
    const fail = (why: string, isKilled = false) => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(isKilled ? new ConfigError(killedLine(NAME)) : new Error(`${NAME} ${why}\n${stderr}`.trim()));
    };
    child.once('message', (message: { port: number }) => {
      clearTimeout(timer);
      resolve(message.port);
    });
    child.once('error', (error) => fail(error.message));
    child.once('exit', (code, signal) => fail(`ended with code ${code} while starting`, signal === 'SIGKILL'));
  });
  // The pipe must not keep this process alive; the IPC channel is closed by stop().
  child.stderr?.on('error', () => {});

  return {
    name: NAME,
    url: `postgres://postgres:postgres@127.0.0.1:${listening}/postgres?sslmode=disable`,
    pid: child.pid!,
    exited,
    watch: (pid) => void (child.connected && child.send({ event: 'watch', pid } satisfies PostgresServerMessage)),
    async stop() {
      // A killed process has a signal and no exit code, and its channel is closed.
      if (child.exitCode !== null || child.signalCode !== null) return;
      if (child.connected) child.send({ event: 'stop' } satisfies PostgresServerMessage);
      const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await exited;
      clearTimeout(timer);
    },
  };
}
