/**
 * The embedded service on a small disk of its own, for the proof of its troubles: it and the servers under it can be
 * killed, the disk filled, and its database looked at while it is stopped, as nobody else has it while it runs.
 */
import { mkdir, mkdtemp, readdir, readFile, readlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startPostgres } from '../../src/embedded/postgres.ts';
import { preparedDatabase } from '../../src/embedded/prepared-database.mjs';
import { pidsWith } from '../../src/embedded/stale.ts';
import { present } from '../../src/platform/core/present.ts';
import { createDatabase, type Database } from '../../src/platform/db/client.ts';
import { endWithUs, removeWithUs } from '../bench/processes.ts';
import type { Replica } from '../support/processes/deployment.ts';
import { quietPort } from '../support/processes/ports.ts';
import { COMMANDS, startProcess } from '../support/processes/service-process.ts';
import { TEST_SECRETS } from '../support/service/service.ts';
import type { SmallDisk } from '../support/faults/small-disk.ts';

export type ServerName = 'postgres' | 'temporal';
export const SERVERS: readonly ServerName[] = ['postgres', 'temporal'];

/** What a service's data directory is on. */
export type ServiceDisk = Pick<SmallDisk, 'launcher' | 'inside' | 'close'>;
/** On the disk of this machine. */
export const plainDisk = async (inside: string): Promise<ServiceDisk> => ({
  launcher: [],
  inside,
  close: async () => {},
});

export interface EmbeddedService<D extends ServiceDisk = SmallDisk> {
  /** The one process that clients see. */
  replica: Replica & { url: string };
  temporalAddress: string;
  disk: D;
  /** A folder beside the disk, with the log of the service; removed with this process. */
  folder: string;
  /** Begins to start it. @returns whether it came to work; else it has ended by itself */
  start(): Promise<boolean>;
  /** Returns when it has ended. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  killServer(name: ServerName): Promise<void>;
  /** Its own process and those of its servers. */
  pids(): Promise<number[]>;
  pidsOf(part: 'service' | ServerName): Promise<number[]>;
  /** What it logged last. */
  lastWords(): Promise<string>;
  /** For whoever looks into the database: it is stopped, and started again. */
  whileStopped<T>(ask: (db: Database) => Promise<T>): Promise<T>;
  /** How many processes have the data of a server open. */
  writersOf(name: ServerName): Promise<number>;
  /** What was seen of more than one at a time, so far. */
  tooManyWriters: Set<string>;
  close(): Promise<void>;
}

/** What a server has open when it may write to its data. */
const DATA_FILES: Record<ServerName, RegExp> = {
  postgres: /\/postgres\/(base|global|pg_wal)\//,
  temporal: /\/temporal\.db$/,
};
const LOOK_MS = 100;

/**
 * @param mount gives an empty directory its disk
 * @param prepare makes what there is before the first start
 * @param settings of the service
 */
export async function createEmbeddedService<Prepared, D extends ServiceDisk>(
  mount: (directory: string) => Promise<D>,
  settings: Record<string, string>,
  prepare: (db: Database) => Promise<Prepared>,
): Promise<EmbeddedService<D> & { prepared: Prepared }> {
  const folder = await mkdtemp(join(tmpdir(), 'aos-embedded-'));
  removeWithUs(folder);
  const dataDir = join(folder, 'data');
  await mkdir(dataDir);
  const disk = await mount(dataDir);

  const port = await quietPort();
  const controlPlanePort = await quietPort();
  const temporalPort = await quietPort();
  const { SECRETS_KEY: _, ...secrets } = TEST_SECRETS;
  const env = {
    ...secrets,
    DATA_DIR: dataDir,
    PORT: String(port),
    CONTROL_PLANE_PORT: String(controlPlanePort),
    TEMPORAL_PORT: String(temporalPort),
    PGLITE_PORT: String(await quietPort()),
    ...settings,
  };
  const controlPlaneUrl = `http://127.0.0.1:${controlPlanePort}`;
  const replica: EmbeddedService<D>['replica'] = {
    name: 'service',
    part: 'api',
    url: `http://127.0.0.1:${port}`,
    controlPlaneUrl,
    metricsUrl: `${controlPlaneUrl}/metrics`,
    running: undefined,
  };
  const logFile = join(folder, 'service.log');

  async function start(): Promise<boolean> {
    const { args, readyLine } = COMMANDS.service;
    const started = startProcess(args, env, folder, logFile, disk.launcher);
    endWithUs(present(started.child.pid));
    replica.running = started;
    return started.logged(readyLine).then(
      () => true,
      () => false,
    );
  }
  async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const { running } = replica;
    replica.running = undefined;
    running?.child.kill(signal);
    await running?.ended;
  }

  const lastWords = async (): Promise<string> => (await readFile(logFile, 'utf8')).slice(-2_000);

  async function inDatabase<T>(ask: (db: Database) => Promise<T>): Promise<T> {
    const postgres = await startPostgres({ dataDir: join(disk.inside, 'postgres'), from: preparedDatabase() });
    try {
      const db = createDatabase({ url: postgres.url, poolSize: 1 });
      try {
        return await ask(db);
      } finally {
        await db.close();
      }
    } finally {
      await postgres.stop();
    }
  }

  const prepared = await inDatabase(prepare);

  const tooManyWriters = new Set<string>();
  let isWatched = true;
  let isClosed = false;
  async function keepWatching(): Promise<void> {
    for (; !isClosed; await wait(LOOK_MS)) {
      if (!isWatched) continue;
      for (const name of SERVERS) {
        const writers = await countWriters(name, dataDir);
        if (writers > 1 && isWatched) tooManyWriters.add(`${writers} processes have the data of ${name} open`);
      }
    }
  }
  const watching = keepWatching();

  return {
    replica,
    temporalAddress: `127.0.0.1:${temporalPort}`,
    disk,
    folder,
    start,
    end,
    prepared,
    tooManyWriters,
    writersOf: (name) => countWriters(name, dataDir),
    async killServer(name) {
      for (const pid of await pidsOf(name, dataDir)) {
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // Ended meanwhile.
        }
      }
    },
    async pids() {
      const servers = await Promise.all(SERVERS.map((name) => pidsOf(name, dataDir)));
      return [replica.running?.child.pid ?? [], servers].flat(2);
    },
    pidsOf: async (part) => (part === 'service' ? [replica.running?.child.pid ?? []].flat() : pidsOf(part, dataDir)),
    lastWords,
    async whileStopped(ask) {
      await end('SIGTERM');
      isWatched = false;
      const answer = await inDatabase(ask);
      isWatched = true;
      if (!(await start())) throw new Error(`the service does not start again: ${await lastWords()}`);
      return answer;
    },
    async close() {
      await end('SIGTERM');
      isClosed = true;
      await watching;
      await disk.close();
    },
  };
}

/** By their command lines: each names the data that it is for. */
const pidsOf = (name: ServerName, dataDir: string): Promise<number[]> =>
  pidsWith(name === 'postgres' ? [`${dataDir}/postgres`] : ['--db-filename', `${dataDir}/temporal.db`]);

async function countWriters(name: ServerName, dataDir: string): Promise<number> {
  let writers = 0;
  for (const pid of await pidsOf(name, dataDir)) {
    const fds = await readdir(`/proc/${pid}/fd`).catch(() => []);
    const links = await Promise.all(fds.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')));
    if (links.some((link) => DATA_FILES[name].test(link))) writers += 1;
  }
  return writers;
}
