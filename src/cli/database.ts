/** The database of the service for commands that work on it themselves: of `DATABASE_URL`, else that of DATA_DIR. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Database } from '../platform/db/client.ts';
import { CliError } from './output.ts';

/** Opens it for the time of `work`. The embedded one takes one connection, so its service must not run. */
export async function withDatabase<T>(env: NodeJS.ProcessEnv, work: (db: Database) => Promise<T>): Promise<T> {
  if (env.DATABASE_URL) return using(env.DATABASE_URL, work);
  const dataDir = resolve(env.DATA_DIR || '.data');
  const files = join(dataDir, 'postgres');
  if (!existsSync(files)) throw new CliError(`no database: set DATABASE_URL, or DATA_DIR to where one is kept`);
  const [{ claimDataDir }, { startPostgres }] = await Promise.all([
    import('../embedded/stale.ts'),
    import('../embedded/postgres.ts'),
  ]);
  const claim = await claimDataDir(dataDir);
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

async function using<T>(url: string, work: (db: Database) => Promise<T>): Promise<T> {
  const { createDatabase } = await import('../platform/db/client.ts');
  const db = createDatabase({ url, poolSize: 1 });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
