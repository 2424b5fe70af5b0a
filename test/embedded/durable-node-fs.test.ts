/** What the embedded database has on the disk when it answers. The real PGlite on a real directory, its syncs recorded. */
import { PGlite, protocol } from '@electric-sql/pglite';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { DurableNodeFS, durableStartParams } from '../../src/embedded/durable-node-fs.ts';
import { startPostgres } from '../../src/embedded/postgres.ts';
import { preparedDatabase } from '../../src/embedded/prepared-database.mjs';
import { recordDisk, type DiskRecord } from '../support/faults/unsynced.ts';

/** Postgres makes these again if they are missing or damaged, and so never syncs them. */
const REBUILT = /pg_internal\.init|\/pg_subtrans\/|\/pg_stat|postmaster\.(pid|opts)$|postgresql\.conf$/;

let folder: string;
let disk: DiskRecord;
let db: PGlite;
const open = (directory: string) =>
  PGlite.create({
    fs: new DurableNodeFS(directory),
    startParams: durableStartParams(PGlite.defaultStartParams),
  });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'aos-durable-'));
  cpSync(preparedDatabase(), join(folder, 'data'), { recursive: true });
  disk = recordDisk((path) => REBUILT.test(path));
  db = await open(join(folder, 'data'));
  await db.exec('create table kept (id int primary key, text text)');
});
afterAll(async () => {
  await db?.close();
  disk?.stop();
  rmSync(folder, { recursive: true });
});

const inLog = (path: string) => path.includes('/pg_wal');

/** @returns the paths of the log that are in memory only at the moment when the reply arrives, and the syncs before it */
async function sendRecorded(...messages: Uint8Array[]): Promise<{ atReply: string[][]; syncs: number; reply: string }> {
  const before = disk.syncs;
  const atReply: string[][] = [];
  let reply = '';
  await db.runExclusive(async () => {
    await db.execProtocolRawStream(Buffer.concat(messages), {
      onRawData(bytes) {
        reply += Buffer.from(bytes).toString('latin1');
        if (/CREATE|INSERT|UPDATE|COMMIT|DROP/.test(reply)) atReply.push(disk.unsynced().filter(inLog));
      },
    });
  });
  return { atReply, syncs: disk.syncs - before, reply };
}

const query = (text: string) => [protocol.serialize.query(text)];
const COMMITS: Record<string, () => Uint8Array[]> = {
  'a statement': () => query("insert into kept values (1, 'one')"),
  'a prepared statement': () => [
    protocol.serialize.parse({ text: 'update kept set text = $1' }),
    protocol.serialize.bind({ values: ['two'] }),
    protocol.serialize.execute({}),
    protocol.serialize.sync(),
  ],
  'a transaction': () =>
    query("begin; insert into kept values (3, 'three'); savepoint s; update kept set text = 'x'; commit"),
  'more than one page of the log': () =>
    query("insert into kept select g, repeat('x', 500) from generate_series(10, 5000) g"),
  'a value of its own pages': () =>
    query("insert into kept select 9000, string_agg(md5(g::text), '') from generate_series(1, 50000) g"),
  'a table': () => query('create table made (id int primary key); drop table made'),
};

describe('a commit', () => {
  // Guards against: the embedded database ran without fsync, and a power loss took what was accepted in the last 30 s.
  test.each(Object.entries(COMMITS))('is on the disk before its answer: %s', async (_, messages) => {
    const { atReply, syncs, reply } = await sendRecorded(...messages());
    expect(reply).not.toMatch(/ERROR/);
    expect(atReply.length).toBeGreaterThan(0);
    expect(atReply.flat()).toEqual([]);
    expect(syncs).toBeGreaterThan(0);
  });

  // Guards: reads pay nothing for this.
  test('is the only thing that waits for the disk', async () => {
    const before = disk.syncs;
    await db.query('select count(*) from kept');
    expect(disk.syncs).toBe(before);
  });
});

describe('a checkpoint', () => {
  afterEach(() => expect(disk.unsynced()).toEqual([]));

  // Guards against: a checkpoint that moves on while its pages are in memory leaves a torn database after a power loss.
  test('leaves no page, no name and no renamed log in memory', async () => {
    await db.exec(`
      insert into kept select g, repeat('y', 1500) from generate_series(10000, 40000) g;
      create index on kept (md5(text)); delete from kept where id % 3 = 0;
      create table never_filled (id int primary key, text text);`);
    await db.exec('vacuum kept');
    await db.exec('select pg_switch_wal()');
    await db.exec("insert into kept values (50000, 'in the next segment')");
    await db.exec('checkpoint');
    await db.exec('select pg_switch_wal()');
    await db.exec('checkpoint');
  });
});

// Guards: a database that was copied as a crash leaves it is whole on the disk once it has recovered.
test('a recovery syncs what it writes', async () => {
  await db.exec('create table emptied as select generate_series(1, 1000) as id; checkpoint');
  await db.exec("insert into kept values (60000, 'before the crash')");
  const crashed = join(folder, 'crashed');
  cpSync(join(folder, 'data'), crashed, { recursive: true });
  const again = await open(crashed);
  const left = disk.unsynced().filter((path) => path.startsWith(crashed));
  const { rows } = await again.query('select text from kept where id = 60000');
  // Its pages are dropped before they are written, so that nothing but its end changes.
  await again.exec('delete from emptied');
  await again.exec('vacuum emptied');
  await again.exec('checkpoint');
  const leftOfEmptied = disk.unsynced().filter((path) => path.startsWith(crashed));
  await again.close();
  expect(leftOfEmptied).toEqual([]);
  expect(rows).toEqual([{ text: 'before the crash' }]);
  expect(left).toEqual([]);
});

/** Takes the place of the program that syncs a file system, and notes for which database. */
const SYNC = (calls: string) => `#!/bin/sh\n[ -e "$2/PG_VERSION" ] && echo "$2" >> ${calls}\n`;

// Guards: a killed server leaves pages in memory that the next one never changes, and so never syncs by itself; and the
// programs that copy or make a database sync none of its files.
(process.platform === 'linux' ? test : test.skip)('a database is on the disk before its server uses it', async () => {
  const [left, made] = [join(folder, 'left'), join(folder, 'made')];
  cpSync(preparedDatabase(), left, { recursive: true });
  const calls = join(folder, 'synced');
  mkdirSync(join(folder, 'programs'));
  writeFileSync(join(folder, 'programs/sync'), SYNC(calls), { mode: 0o755 });
  const before = process.env.PATH;
  process.env.PATH = `${join(folder, 'programs')}:${before}`;
  const startAndStop = async (...options: Parameters<typeof startPostgres>) => (await startPostgres(...options)).stop();
  try {
    await startAndStop({ dataDir: left });
    await startAndStop({ dataDir: join(folder, 'copied'), from: preparedDatabase() });
    await startAndStop({ dataDir: made });
  } finally {
    process.env.PATH = before;
  }
  const synced = readFileSync(calls, 'utf8').trim().split('\n');
  expect(synced).toEqual([left, join(folder, 'copied.unfinished'), join(folder, 'copied'), made]);
});

/** Counts the syncs of a process in the size of a file. */
const COUNT_SYNCS = `
  import fs from 'node:fs';
  const { fdatasyncSync } = fs;
  fs.fdatasyncSync = (fd) => { fdatasyncSync(fd); fs.appendFileSync(process.env.SYNCS_FILE, '.'); };`;

// Guards: the server that the service starts syncs its commits; PGlite's default arguments and file system do not.
test('the server of the embedded mode is durable', async () => {
  const syncsFile = join(folder, 'syncs');
  writeFileSync(syncsFile, '');
  const before = process.env.NODE_OPTIONS;
  process.env.NODE_OPTIONS = `--import data:text/javascript,${encodeURIComponent(COUNT_SYNCS)}`;
  process.env.SYNCS_FILE = syncsFile;
  const server = await startPostgres({ dataDir: join(folder, 'served'), from: preparedDatabase() });
  process.env.NODE_OPTIONS = before ?? '';
  const client = new pg.Client({ connectionString: server.url });
  try {
    await client.connect();
    const { rows } = await client.query(
      `select name, setting from pg_settings
       where name in ('fsync', 'wal_sync_method', 'full_page_writes', 'synchronous_commit') order by 1`,
    );
    expect(rows).toEqual([
      { name: 'fsync', setting: 'on' },
      { name: 'full_page_writes', setting: 'on' },
      { name: 'synchronous_commit', setting: 'on' },
      { name: 'wal_sync_method', setting: 'fsync' },
    ]);
    await client.query('create table counted (id int)');
    for (let id = 1; id <= 10; id++) {
      const syncs = statSync(syncsFile).size;
      await client.query('insert into counted values ($1)', [id]);
      expect(statSync(syncsFile).size).toBeGreaterThan(syncs);
    }
  } finally {
    await client.end();
    await server.stop();
  }
});
