/** A new data directory begins as a copy of the database that set-up keeps. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres } from '../../src/embedded/postgres.ts';
import { preparedDatabase } from '../../src/embedded/prepared-database.mjs';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'aos-prepared-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const THERE = "select to_regclass('only_here') is not null as there";
const TABLES = "select count(*)::int as n from pg_tables where schemaname = 'public'";

/** @returns what the statement gives in a database of this directory, which is stopped again */
async function ask(dataDir: string, from: string | undefined, statement: string): Promise<unknown[]> {
  const postgres = await startPostgres({ dataDir, ...(from ? { from } : {}) });
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
    await postgres.stop();
  }
}

// Guards: set-up made one of this version, so that starts are as quick as they are said to be.
test('set-up has made it', () => {
  expect(existsSync(preparedDatabase())).toBe(true);
});

// Guards: what a copy that was killed half-way has left is not taken for a database, and the origin stays as it is.
test('a copy is whole', async () => {
  const dataDir = join(folder, 'copy');
  mkdirSync(`${dataDir}.unfinished`);
  writeFileSync(join(`${dataDir}.unfinished`, 'PG_VERSION'), 'half a copy');
  await ask(dataDir, preparedDatabase(), 'create table only_here (id int)');
  expect(existsSync(`${dataDir}.unfinished`)).toBe(false);
  expect(await ask(dataDir, preparedDatabase(), THERE)).toEqual([{ there: true }]);
  expect(await ask(join(folder, 'another'), preparedDatabase(), THERE)).toEqual([{ there: false }]);
});

// Guards: a service starts where set-up kept none, as in an image.
test('without one, the database is made from nothing', async () => {
  expect(await ask(join(folder, 'from-nothing'), join(folder, 'is-not-there'), TABLES)).toEqual([{ n: 0 }]);
});
