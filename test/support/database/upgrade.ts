/** Databases of earlier versions, and the upgrade as operators have it done: by processes, several at once. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate as applyMigrations } from 'drizzle-orm/node-postgres/migrator';
import pg from 'pg';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const MIGRATIONS = join(ROOT, 'migrations');

interface Journal {
  entries: { tag: string }[];
}
const journalOf = async (folder: string): Promise<Journal> =>
  JSON.parse(await readFile(join(folder, 'meta', '_journal.json'), 'utf8'));

/** Names of all migrations, oldest first. */
export const migrationTags = async (): Promise<string[]> => (await journalOf(MIGRATIONS)).entries.map(({ tag }) => tag);

/** Gives a database the schema of the release that had this migration last. */
export async function migrateUpTo(databaseUrl: string, tag: string): Promise<void> {
  const earlier = await mkdtemp(join(tmpdir(), 'aos-migrations-'));
  await cp(MIGRATIONS, earlier, { recursive: true });
  const journal = await journalOf(earlier);
  journal.entries.splice(journal.entries.findIndex((entry) => entry.tag === tag) + 1);
  await writeFile(join(earlier, 'meta', '_journal.json'), JSON.stringify(journal));
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await applyMigrations(drizzle(client), { migrationsFolder: earlier }).finally(() => client.end());
  await rm(earlier, { recursive: true });
}

export interface Upgrade {
  child: ChildProcess;
  /** Rejects with what it printed when it failed; a killed one resolves. */
  ended: Promise<void>;
}

export function startUpgrade(databaseUrl: string): Upgrade {
  const program = `import { migrate } from ${JSON.stringify(join(ROOT, 'src/platform/db/migrate.ts'))};
    process.stdout.write('upgrading');
    await migrate(process.env.DATABASE_URL);`;
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl } },
  );
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const ended = once(child, 'close').then(([code, signal]) => {
    if (code !== 0 && signal !== 'SIGKILL') throw new Error(`the upgrade failed: ${said.slice(-2_000)}`);
  });
  return { child, ended };
}

export const upgrade = (databaseUrl: string): Promise<void> => startUpgrade(databaseUrl).ended;
