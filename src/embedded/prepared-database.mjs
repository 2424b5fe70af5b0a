/**
 * Says where set-up keeps a database of the current schema with nothing in it, of which a new data directory begins as a
 * copy. Making one from nothing takes five seconds of a core. It imports no package, because set-up runs before they exist.
 */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { hashFiles } from './setup-tools.mjs';

const inRoot = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** Whatever decides what is in the files of the database: its schema, and the Postgres that writes them. */
const SOURCES = [
  'node_modules/@electric-sql/pglite/package.json',
  'node_modules/@electric-sql/pglite-pgvector/package.json',
];

/** The name has the hash of what it was made from, so that one of another version is never taken for it. */
export function preparedDatabase() {
  const migrations = readdirSync(inRoot('migrations')).map((name) => inRoot(`migrations/${name}`));
  const hash = hashFiles([...migrations.filter((path) => path.endsWith('.sql')), ...SOURCES.map(inRoot)]);
  return inRoot(`.cache/databases/${hash.slice(0, 16)}`);
}
