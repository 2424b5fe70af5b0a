/** Makes the database that new data directories begin as a copy of, and removes those of other versions. Run by set-up. */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { migrate } from '../platform/db/migrate.ts';
import { publishDurably } from '../platform/files/durable.ts';
import { startPostgres } from './postgres.ts';
import { preparedDatabase } from './prepared-database.mjs';

const finished = preparedDatabase();
const folder = dirname(finished);
const unfinished = join(folder, `unfinished-${process.pid}`);

await mkdir(folder, { recursive: true });
for (const name of await readdir(folder)) {
  if (name !== basename(finished)) await rm(join(folder, name), { recursive: true, force: true });
}
const postgres = await startPostgres({ dataDir: unfinished });
try {
  await migrate(postgres.url);
} finally {
  await postgres.stop();
}
await rm(`${unfinished}.lock`, { force: true });
await publishDurably(unfinished, finished);
