/**
 * The embedded Temporal: `temporal server start-dev` with its Web UI and its data in one file, tuned for one machine.
 */
import { spawn } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigError } from '../platform/core/config.ts';
import { freePort } from '../platform/core/port.ts';
import { keepFlushed } from './flush.ts';
import { isMemoryLittle, killedLine } from './memory.mjs';
import { endOf, type EmbeddedServer } from './supervise.ts';

export interface EmbeddedTemporal extends EmbeddedServer {
  /** The address of the frontend as host:port. */
  address: string;
  uiUrl: string | undefined;
}

export interface EmbeddedTemporalOptions {
  cliPath: string;
  /** Data is kept in this file; without one nothing is kept. */
  dbFile?: string;
  port?: number;
  /** The value 0 takes any free port; undefined starts no Web UI. */
  uiPort?: number;
  /** Dynamic configuration beyond the usual, as `key=value`. */
  dynamicConfig?: readonly string[];
}

/**
 * The poll rates matter most: at their default of 20 a second every hop of a workflow waits for a tick of 50 ms. Eager
 * execution and one partition spare a one-worker deployment the way through matching.
 */
const DYNAMIC_CONFIG = [
  'history.transferProcessorMaxPollRPS=2000',
  'history.timerProcessorMaxPollRPS=2000',
  // With this, timers fire when they are due rather than up to a second later.
  'history.timerProcessorMaxTimeShift="10ms"',
  'system.enableActivityEagerExecution=true',
  'system.enableEagerWorkflowStart=true',
  // Executions that have ended would stay in memory for an hour, up to 128,000 of them.
  'history.hostLevelCacheMaxSize=512',
  'history.cacheTTL="5m"',
  'matching.numTaskqueueReadPartitions=1',
  'matching.numTaskqueueWritePartitions=1',
  // With this, tasks come in the order of their priority: a command of a project goes before the steps of others, and
  // those before webhooks; among equals each workspace has its turn.
  'matching.useNewMatcher=true',
  'matching.enableFairness=true',
];

/** The log takes 32 MB instead of 4 before it is written into the database, which took a tenth of a run's time. */
const SQLITE = ['journal_mode=WAL', 'synchronous=NORMAL', 'wal_autocheckpoint=8000'];

/** Go otherwise looks for garbage when there is as much of it as of what is in use. */
const FRUGAL = { GOGC: '50' };

const NAME = 'the embedded Temporal';
const START_TIMEOUT_MS = 60_000;

export async function startTemporal(options: EmbeddedTemporalOptions): Promise<EmbeddedTemporal> {
  const port = options.port || (await freePort());
  const uiPort = options.uiPort === undefined ? undefined : options.uiPort || (await freePort());
  const child = spawn(
    options.cliPath,
    [
      ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port), '--log-level', 'error'],
      ...(uiPort ? ['--ui-port', String(uiPort)] : ['--headless']),
      ...(options.dbFile ? ['--db-filename', options.dbFile] : []),
      ...[...DYNAMIC_CONFIG, ...(options.dynamicConfig ?? [])].flatMap((setting) => [
        '--dynamic-config-value',
        setting,
      ]),
      ...SQLITE.flatMap((pragma) => ['--sqlite-pragma', pragma]),
    ],
    // The server has a process group of its own: Ctrl-C is for the parent, which stops the server when its own work is
    // drained.
    {
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
      env: { ...(isMemoryLittle() ? FRUGAL : {}), ...process.env },
    },
  );
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-4_000)));
  const exited = endOf(child);
  const failed = exited.then(([code, signal]) => {
    if (signal === 'SIGKILL') throw new ConfigError(killedLine(NAME));
    throw new Error(`${NAME} ended with code ${code} while starting\n${stderr}`.trim());
  });
  failed.catch(() => {});

  const isOver = () => child.exitCode !== null || child.signalCode !== null;
  await Promise.race([accepting(port, isOver), failed]).catch((error: unknown) => {
    // A half-started server would go on beside the next attempt.
    child.kill('SIGKILL');
    throw error;
  });
  if (options.dbFile) {
    const stopFlushing = keepFlushed(`${options.dbFile}-wal`);
    void exited.then(stopFlushing, stopFlushing);
  }
  return {
    name: NAME,
    address: `127.0.0.1:${port}`,
    uiUrl: uiPort ? `http://localhost:${uiPort}` : undefined,
    pid: child.pid!,
    exited,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await exited;
      clearTimeout(timer);
    },
  };
}

/** Resolves when something takes connections there; gives up when there is nobody left to wait for. */
async function accepting(port: number, isOver: () => boolean): Promise<void> {
  const { connect } = await import('node:net');
  for (const deadline = performance.now() + START_TIMEOUT_MS; performance.now() < deadline && !isOver();) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
      socket.on('close', () => {}).setTimeout(1_000, () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (open) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`Temporal did not open port ${port} in time`);
}

const CACHED = fileURLToPath(new URL('../../.cache/bin/temporal', import.meta.url));

/** Looks at `TEMPORAL_CLI_PATH`, then for `temporal` on PATH, then for the copy that set-up keeps in `.cache/`. */
export async function findTemporalCli(env: Record<string, string | undefined>): Promise<string | undefined> {
  const onPath = (env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'temporal'));
  for (const candidate of [env.TEMPORAL_CLI_PATH, ...onPath, CACHED]) {
    if (!candidate) continue;
    const runs = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (runs) return candidate;
  }
  return undefined;
}
