/**
 * Applies `migrations/*.sql` in order, each once. Safe when several processes start at once: an advisory lock lets one
 * through, the others find nothing left to do. An interrupted migration leaves nothing behind, as each runs in the
 * transaction that also records it.
 */
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate as applyMigrations } from 'drizzle-orm/node-postgres/migrator';
import pg from 'pg';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorCodeOf } from '../core/causes.ts';
import { ConfigError } from '../core/config.ts';
import { parseJson } from '../core/json.ts';
import { APPLICATION_NAME } from './application-name.ts';
import { beforeBaseline, faultIn, lineOf } from './faults.ts';

const MIGRATIONS_FOLDER = fileURLToPath(new URL('../../../migrations', import.meta.url));
/** The number is arbitrary; no other program may use it on this database. */
const LOCK = 4_711_001;
/** SQLSTATE undefined_table, also where the schema is not there. */
const NO_TABLE = '42P01';

interface Journal {
  entries: { when: number }[];
}

/** @throws ConfigError where the role may not do it, or the server cannot */
export async function migrate(databaseUrl: string): Promise<void> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: 15_000,
    application_name: APPLICATION_NAME,
  });
  // One that breaks is told by the statement under way; without a listener it would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    const times = await migrationTimes();
    const applied = await appliedMigrations(client);
    if (isBeforeBaseline(applied, times)) throw new ConfigError(lineOf(beforeBaseline));
    if (applied.last >= Math.max(...times)) return;
    await client.query('select pg_advisory_lock($1)', [LOCK]);
    await applyMigrations(drizzle(client), { migrationsFolder: MIGRATIONS_FOLDER });
    await client.query('select pg_advisory_unlock($1)', [LOCK]);
  } catch (error) {
    const fault = faultIn(error, client);
    throw fault ? new ConfigError(lineOf(fault)) : error;
  } finally {
    await client.end();
  }
}

/** A migration is applied where its time is after the last one's. */
export async function migrationTimes(): Promise<number[]> {
  const journal = parseJson(await readFile(join(MIGRATIONS_FOLDER, 'meta/_journal.json'), 'utf8')) as Journal;
  return journal.entries.map(({ when }) => when);
}

/** The times of the first and the last migration that a database has; 0 where it has none. */
export interface AppliedMigrations {
  first: number;
  last: number;
}

/** Most starts find nothing to do, which one statement tells. */
export async function appliedMigrations(client: pg.Client): Promise<AppliedMigrations> {
  const { rows } = await client
    .query<{ first: string | null; last: string | null }>(
      'select min(created_at) as first, max(created_at) as last from drizzle.__drizzle_migrations',
    )
    .catch((error: unknown) => {
      if (errorCodeOf(error) === NO_TABLE) return { rows: [] };
      throw error;
    });
  return { first: Number(rows[0]?.first ?? 0), last: Number(rows[0]?.last ?? 0) };
}

/** The first migration makes the schema of 1.0. A database that has an older one was made by a version before that. */
export const isBeforeBaseline = ({ first }: AppliedMigrations, times: readonly number[]): boolean =>
  first > 0 && first < Math.min(...times);
