/** A database of its own for each test file, cloned from the template. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres } from '../../../src/embedded/postgres.ts';
import { preparedDatabase } from '../../../src/embedded/prepared-database.mjs';
import { createDatabase, type Database } from '../../../src/platform/db/client.ts';
import { TEMPLATE, withDatabase } from './database-template.ts';
import { requireOwnReferences } from './references.ts';

export interface TestDatabase {
  db: Database;
  url: string;
  /** Connections the url takes at once. */
  poolSize: number;
  /** Drops the database. @throws Error for a row in it that refers to another workspace */
  close(): Promise<void>;
}

export async function openTestDatabase(): Promise<TestDatabase> {
  const { url, poolSize, drop } = await (process.env.TEST_DATABASE_URL
    ? cloneDatabase(process.env.TEST_DATABASE_URL)
    : cloneDirectory());
  const db = createDatabase({ url, poolSize });
  return {
    db,
    url,
    poolSize,
    async close() {
      await db.close();
      try {
        await requireOwnReferences(url);
      } finally {
        await drop();
      }
    },
  };
}

async function cloneDirectory() {
  const dataDir = await mkdtemp(join(tmpdir(), 'aos-test-'));
  const postgres = await startPostgres({ dataDir: join(dataDir, 'postgres'), from: preparedDatabase() });
  return {
    url: postgres.url,
    poolSize: 1,
    async drop() {
      await postgres.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function cloneDatabase(serverUrl: string) {
  const name = `aos_test_${randomBytes(6).toString('hex')}`;
  const admin = new pg.Client({ connectionString: serverUrl });
  await admin.connect();
  await admin.query(`create database ${name} template ${TEMPLATE} strategy file_copy`);
  return {
    url: withDatabase(serverUrl, name),
    // As a deployment has by default: what two requests do at once they really do at once.
    poolSize: 10,
    async drop() {
      await admin.query(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}
