/**
 * The migrated, empty database of the server of `TEST_DATABASE_URL`, which that of every test file is cloned from. On the
 * embedded Postgres test files begin with the database that set-up keeps, as a new service does.
 */
import { basename } from 'node:path';
import pg from 'pg';
import { preparedDatabase } from '../../../src/embedded/prepared-database.mjs';
import { migrate } from '../../../src/platform/db/migrate.ts';

/** It has another name for each version of the schema, as a server may be kept for longer than that. */
export const TEMPLATE = `aos_template_${basename(preparedDatabase())}`;

export async function makeTemplate(url: string): Promise<void> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  const { rowCount } = await admin.query('select 1 from pg_database where datname = $1', [TEMPLATE]);
  if (!rowCount) {
    await admin.query(`create database ${TEMPLATE}`);
    await migrate(withDatabase(url, TEMPLATE));
  }
  await admin.end();
}

export function withDatabase(url: string, database: string): string {
  const address = new URL(url);
  address.pathname = `/${database}`;
  return address.toString();
}
