/**
 * `npm run migration:sql -- <name>`: makes a migration of what the `sql` folders have and the migrations do not. Functions and views are
 * replaced, triggers dropped and made, and what no file has any more is dropped.
 */
import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startPostgres } from '../../../src/embedded/postgres.ts';
import { present } from '../../../src/platform/core/present.ts';
import { migrate } from '../../../src/platform/db/migrate.ts';
import { definitionsIn, definitionsOf, readPieces, statementsBetween } from './sql-files.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

async function findStatements(): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'aos-migration-'));
  const postgres = await startPostgres({ dataDir: join(folder, 'postgres') });
  const client = new pg.Client({ connectionString: postgres.url });
  try {
    await migrate(postgres.url);
    await client.connect();
    const pieces = await readPieces();
    return statementsBetween(await definitionsIn(client), await definitionsOf(client, pieces), pieces);
  } finally {
    await client.end();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const [name] = process.argv.slice(2);
if (!name || !/^\w+$/.test(name)) throw new Error('usage: npm run migration:sql -- <what_it_does>');
const statements = await findStatements();
if (statements.length === 0) {
  process.stdout.write('The migrations make what the files say: there is nothing to do.\n');
} else {
  const before = new Set(await readdir(join(ROOT, 'migrations')));
  execFileSync(join(ROOT, 'node_modules/.bin/drizzle-kit'), ['generate', '--custom', '--name', name], { cwd: ROOT });
  const made = (await readdir(join(ROOT, 'migrations'))).find((file) => !before.has(file));
  const path = join('migrations', present(made, 'a migration'));
  await writeFile(join(ROOT, path), `${statements.join('--> statement-breakpoint\n')}\n`);
  process.stdout.write(`${path}: read it, and edit it if a function changes its arguments or what it returns\n`);
}
