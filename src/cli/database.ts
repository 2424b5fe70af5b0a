/**
 * Opens the service's database for commands that work on it themselves: the one of `DATABASE_URL`, otherwise that of
 * DATA_DIR.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Database } from '../platform/db/client.ts';
import type { DataDirClaim } from '../embedded/stale.ts';
import { ConfigError } from '../platform/core/config.ts';
import { CliError } from './output.ts';

/**
 * Opens the database while `work` runs. Only one process may use the embedded database, so its service must be stopped.
 * @throws CliError that says what to do while the service runs
 */
export async function withDatabase<T>(env: NodeJS.ProcessEnv, work: (db: Database) => Promise<T>): Promise<T> {
  if (env.DATABASE_URL) return using(env.DATABASE_URL, work);
  const dataDir = resolve(env.DATA_DIR || '.data');
  const files = join(dataDir, 'postgres');
  if (!existsSync(files)) throw new CliError(`no database: set DATABASE_URL, or DATA_DIR to where one is kept`);
  const { startPostgres } = await import('../embedded/postgres.ts');
  const claim = await claimed(dataDir);
  try {
    const postgres = await startPostgres({ dataDir: files });
    await claim.remember('postgres', postgres.pid);
    try {
      return await using(postgres.url, work);
    } finally {
      await postgres.stop();
    }
  } finally {
    claim.release();
  }
}

/**
 * Keeps the service from starting on the directory.
 * @throws CliError that says what to do where the service runs
 */
export async function claimed(dataDir: string): Promise<DataDirClaim> {
  const { claimDataDir } = await import('../embedded/stale.ts');
  return claimDataDir(dataDir).catch((error: unknown) => {
    if (!(error instanceof ConfigError)) throw error;
    throw new CliError(
      `${error.message}. This works on its data: stop the service (Ctrl-C where it runs), run this again, start it`,
    );
  });
}

async function using<T>(url: string, work: (db: Database) => Promise<T>): Promise<T> {
  const { createDatabase } = await import('../platform/db/client.ts');
  const db = createDatabase({ url, poolSize: 1 });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
