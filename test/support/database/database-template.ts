/**
 * The migrated, empty database that every test file starts from: a database on the server of `TEST_DATABASE_URL`, else a
 * data directory of the embedded Postgres, kept in `.cache` under the hash of the migrations.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { startPostgres } from '../../../src/embedded/postgres.ts';
import { migrate } from '../../../src/platform/db/migrate.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

export interface Template {
  /** Changes with every migration. */
  hash: string;
  directory: string;
  database: string;
}

export async function describeTemplate(): Promise<Template> {
  const hash = createHash('sha256');
  for (const file of (await readdir(join(ROOT, 'migrations'))).sort()) {
    if (file.endsWith('.sql')) hash.update(await readFile(join(ROOT, 'migrations', file)));
  }
  const digest = hash.digest('hex').slice(0, 12);
  return {
    hash: digest,
    directory: join(ROOT, '.cache', `test-postgres-${digest}`),
    database: `aos_template_${digest}`,
  };
}

export async function makeTemplate(): Promise<void> {
  const template = await describeTemplate();
  await (process.env.TEST_DATABASE_URL
    ? makeDatabase(template, process.env.TEST_DATABASE_URL)
    : makeDirectory(template));
}

/** A data directory of its own for an embedded Postgres, also where the other tests have a server. */
export async function copyTemplate(into: string): Promise<void> {
  const template = await describeTemplate();
  await makeDirectory(template);
  await mkdir(into, { recursive: true });
  // A thousand files: Node's own copy takes ten times the processor's time.
  await promisify(execFile)('cp', ['-R', `${template.directory}/.`, into]);
}

async function makeDirectory({ directory }: Template): Promise<void> {
  if (existsSync(directory)) return;
  const unfinished = `${directory}.${process.pid}`;
  const postgres = await startPostgres({ dataDir: unfinished });
  await migrate(postgres.url);
  await postgres.stop();
  // Renamed when complete, so that an interrupted or parallel set-up never leaves half a template.
  await rename(unfinished, directory).catch(() => rm(unfinished, { recursive: true, force: true }));
}

async function makeDatabase({ database }: Template, url: string): Promise<void> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  const { rowCount } = await admin.query('select 1 from pg_database where datname = $1', [database]);
  if (!rowCount) {
    await admin.query(`create database ${database}`);
    await migrate(withDatabase(url, database));
  }
  await admin.end();
}

export function withDatabase(url: string, database: string): string {
  const address = new URL(url);
  address.pathname = `/${database}`;
  return address.toString();
}
