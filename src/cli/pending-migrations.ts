/** Counts the migrations that a database still lacks. */
import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { errorCodeOf } from '../platform/core/causes.ts';

const JOURNAL = new URL('../../migrations/meta/_journal.json', import.meta.url);
const UNDEFINED_TABLE = '42P01';

/** @throws Error where the database cannot be reached */
export async function pendingMigrations(databaseUrl: string): Promise<number> {
  const { entries } = JSON.parse(await readFile(JOURNAL, 'utf8')) as { entries: unknown[] };
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5_000 });
  try {
    await client.connect();
    const { rows } = await client.query<{ applied: string }>(
      'select count(*) as applied from drizzle.__drizzle_migrations',
    );
    return Math.max(0, entries.length - Number(rows[0]?.applied));
  } catch (error) {
    if (errorCodeOf(error) === UNDEFINED_TABLE) return entries.length;
    throw error;
  } finally {
    await client.end().catch(() => {});
  }
}
