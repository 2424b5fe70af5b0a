/** What a start asks of its database before it begins. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { migrate } from '../../../src/platform/db/migrate.ts';
import { openTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { recordStatements } from '../../support/database/statements.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(async () => database?.close());

// Guards: a start with nothing to migrate asks once, takes no lock and writes nothing.
test('a current schema is seen with one statement', async () => {
  const asked = await recordStatements(() => migrate(database.url));
  expect(asked.map(({ text }) => text)).toEqual([expect.stringContaining('max(created_at) as last')]);
});

// Guards: a schema that lacks no more than the last migration is not taken for a current one.
test('a schema that lacks its last migration is migrated', async () => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(`delete from drizzle.__drizzle_migrations where created_at =
    (select max(created_at) from drizzle.__drizzle_migrations)`);
  await client.end();
  // What it makes is there already, so that it fails; what counts is that it is tried.
  const asked = await recordStatements(() => migrate(database.url).catch(() => {}));
  expect(asked.map(({ text }) => text)).toContainEqual(expect.stringContaining('pg_advisory_lock'));
});
