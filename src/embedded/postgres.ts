/** Starts and stops the embedded Postgres (see postgres-server.ts). */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export type PostgresServerMessage = { event: 'stop' } | { event: 'watch'; pid: number };

export interface EmbeddedPostgres {
  /** The address is `postgres://...`; the database takes one connection at a time. */
  url: string;
  pid: number;
  /** Resolves when the process has ended. */
  exited: Promise<unknown>;
  /** Makes the server end this process too when the parent is gone without a goodbye. */
  watch(pid: number): void;
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** The path of a directory, or `memory://`. */
  dataDir: string;
  port?: number;
  /** Where there is no data directory yet, it begins as a copy of this one, if that is there. */
  from?: string;
}

const SERVER = fileURLToPath(new URL('./postgres-server.ts', import.meta.url));
const START_TIMEOUT_MS = 120_000;
/** Outside of Postgres' own memory there are messages, which die young. V8 would give them 128 MB under load, and keep them. */
const YOUNG = '--max-semi-space-size=4';
/** Compiling Postgres takes 50 MB, which glibc would keep for the threads that did it. */
const MEMORY_IS_GIVEN_BACK = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072' };

export async function startPostgres({ dataDir, port = 0, from }: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const child = fork(SERVER, [dataDir, String(port), ...(from ? [from] : [])], {
    execArgv: ['--disable-warning=ExperimentalWarning', YOUNG],
    env: { ...process.env, ...MEMORY_IS_GIVEN_BACK },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    detached: true,
  });
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-4_000)));
  const exited = once(child, 'exit');

  const listening = await new Promise<number>((resolve, reject) => {
    const timer = setTimeout(() => fail('did not start in time'), START_TIMEOUT_MS);
    const fail = (why: string) => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(new Error(`embedded Postgres ${why}\n${stderr}`.trim()));
    };
    child.once('message', (message: { port: number }) => {
      clearTimeout(timer);
      resolve(message.port);
    });
    child.once('error', (error) => fail(error.message));
    child.once('exit', (code) => fail(`ended with code ${code} while starting`));
  });
  // The pipe must not keep this process alive; the IPC channel is closed by stop().
  child.stderr?.on('error', () => {});

  return {
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
