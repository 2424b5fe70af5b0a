/**
 * Applies `migrations/*.sql` in order, each once. Safe when several processes start at once: an advisory lock lets one
 * through, the others find nothing left to do. An interrupted migration leaves nothing behind, as each runs in the
 * transaction that also records it.
 */
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate as applyMigrations } from 'drizzle-orm/node-postgres/migrator';
import pg from 'pg';
import { fileURLToPath } from 'node:url';
import { APPLICATION_NAME } from './application-name.ts';

const MIGRATIONS_FOLDER = fileURLToPath(new URL('../../../migrations', import.meta.url));
/** The number is arbitrary; no other program may use it on this database. */
const LOCK = 4_711_001;

export async function migrate(databaseUrl: string): Promise<void> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: 15_000,
    application_name: APPLICATION_NAME,
  });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK]);
    await applyMigrations(drizzle(client), { migrationsFolder: MIGRATIONS_FOLDER });
    await client.query('select pg_advisory_unlock($1)', [LOCK]);
  } finally {
    await client.end();
  }
}
