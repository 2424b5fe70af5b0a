/** A native Postgres with pgvector for a measurement: that of `TEST_DATABASE_URL`, else one made for the time being. */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from '../../src/embedded/temporal.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { withDatabase } from '../support/database-template.ts';
import { endWithUs, removeWithUs } from './processes.ts';

const run = promisify(execFile);
const DEBIAN = '/usr/lib/postgresql';
const SETTINGS = ['shared_buffers=512MB', 'maintenance_work_mem=512MB', 'fsync=off'];

export interface NativePostgres {
  /** Of an empty database with the current schema. */
  url: string;
  close(): Promise<void>;
}

/** @returns why there is none, where there is none */
export async function openNativePostgres(): Promise<NativePostgres | string> {
  const given = process.env.TEST_DATABASE_URL;
  const server = given ? { url: given, stop: () => {} } : await startServer();
  if (typeof server === 'string') return server;
  const name = `aos_bench_${process.pid}`;
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  const { rowCount } = await admin.query(`select 1 from pg_available_extensions where name = 'vector'`);
  if (!rowCount) {
    await admin.end();
    server.stop();
    return 'it has no pgvector (Debian: postgresql-<version>-pgvector)';
  }
  await admin.query(`create database ${name}`);
  const url = withDatabase(server.url, name);
  await migrate(url);
  return {
    url,
    async close() {
      await admin.query(`drop database ${name} with (force)`);
      await admin.end();
      server.stop();
    },
  };
}

async function startServer() {
  const binaries = findBinaries();
  if (!binaries) return 'no TEST_DATABASE_URL and no Postgres binaries';
  // Postgres refuses to run as root.
  const user = process.getuid?.() === 0 ? userOf('postgres') : {};
  if (!user) return 'it does not run as root, and there is no user postgres';
  const folder = mkdtempSync(join(tmpdir(), 'aos-bench-postgres-'));
  removeWithUs(folder);
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid!);
  const data = join(folder, 'data');
  const options = { ...user, cwd: folder };
  await run(join(binaries, 'initdb'), ['-D', data, '-A', 'trust', '-U', 'postgres'], options);
  const port = await freePort();
  const settings = [...SETTINGS, `unix_socket_directories=${folder}`, 'listen_addresses=127.0.0.1'];
  const child = spawn(
    join(binaries, 'postgres'),
    ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])],
    { ...options, stdio: 'ignore' },
  );
  endWithUs(child.pid!);
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  await untilReady(url);
  return { url, stop: () => void child.kill('SIGINT') };
}

function findBinaries(): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [...versions.map((version) => join(DEBIAN, version, 'bin')), ...(process.env.PATH ?? '').split(':')];
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')));
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
  for (const deadline = Date.now() + 30_000; ;) {
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
