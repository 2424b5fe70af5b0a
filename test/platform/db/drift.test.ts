/**
 * The database as the code has it is the one that the migrations make: columns, keys, indexes, checks and words of `table.ts`;
 * functions, views and triggers of the `sql` folders.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { is, sql } from 'drizzle-orm';
import { getTableConfig, isPgEnum, PgTable, type PgEnum } from 'drizzle-orm/pg-core';
import { glob } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Database } from '../../../src/platform/db/client.ts';
import pg from 'pg';
import { openTestDatabase } from '../../support/database/database.ts';
import {
  definitionsIn,
  definitionsOf,
  piecesIn,
  readPieces,
  statementsBetween,
  type Piece,
} from '../../support/database/sql-files.ts';

const RESOURCES = fileURLToPath(new URL('../../../src/resources', import.meta.url));
/** Those of the migrations themselves, and what triggers write, which no query of ours names. */
const ELSEWHERE = /^(__drizzle|pg_)/;

let db: Database;
let close: () => Promise<void>;
let url: string;
let tables: ReturnType<typeof getTableConfig>[];
let enums: PgEnum<[string, ...string[]]>[];
beforeAll(async () => {
  const database = await openTestDatabase();
  ({ db, url } = database);
  close = () => database.close();
  const exported = new Set<unknown>();
  for await (const file of glob('*/table.ts', { cwd: RESOURCES })) {
    const declared = (await import(pathToFileURL(`${RESOURCES}/${file}`).href)) as object;
    for (const each of Object.values(declared)) exported.add(each);
  }
  tables = [...exported].flatMap((each) => (is(each, PgTable) ? [getTableConfig(each)] : []));
  enums = [...exported].filter((each) => isPgEnum(each)) as typeof enums;
});
afterAll(() => close?.());

const SPELLINGS: Record<string, string> = { serial: 'integer', bigserial: 'bigint' };
const sorted = (lines: readonly string[]): string[] => lines.toSorted();

// Guards against: a column that only the code, or only the database, has; a different type; a null that the code does
// not expect.
test('columns are those of the tables', async () => {
  const declared = tables.flatMap(({ name, columns }) =>
    columns.map((column) => {
      const type = column.getSQLType().replace(', ', ',');
      return `${name}.${column.name} ${SPELLINGS[type] ?? type}${column.notNull ? ' not null' : ''}`;
    }),
  );
  const rows = await db.rows<{ table: string; line: string }>(sql`
    select c.relname as table, c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
      || case when a.attnotnull then ' not null' else '' end as line
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped`);
  const there = rows.filter(({ table }) => !ELSEWHERE.test(table)).map(({ line }) => line);
  expect(there.length).toBeGreaterThan(300);
  expect(sorted(there)).toEqual(sorted(declared));
});

// Guards against: an index, a check or a foreign key that the code counts on and no migration makes, or the other way
// round.
test('indexes, checks and foreign keys are those of the tables', async () => {
  const declared = tables.flatMap(({ name, indexes, checks, foreignKeys }) => [
    ...indexes.map(({ config }) => `${name}: index ${config.name}`),
    ...checks.map((check) => `${name}: check ${check.name}`),
    ...foreignKeys.map((key) => `${name}: foreign key ${key.getName()}`),
  ]);
  const there = await db.rows<{ line: string }>(sql`
    select c.relname || ': index ' || i.relname as line from pg_index x
      join pg_class c on c.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
      where c.relnamespace = 'public'::regnamespace and not exists (select 1 from pg_constraint k where k.conindid = i.oid)
    union all
    select c.relname || case k.contype when 'c' then ': check ' else ': foreign key ' end || k.conname from pg_constraint k
      join pg_class c on c.oid = k.conrelid
      where c.relnamespace = 'public'::regnamespace and k.contype in ('c', 'f')`);
  expect(sorted(there.map(({ line }) => line))).toEqual(sorted(declared));
});

// Guards against: an enum value that the code writes and the database refuses.
test('enums have the words of the code', async () => {
  const there = await db.rows<{ name: string; words: string[] }>(sql`
    select t.typname as name, array_agg(e.enumlabel::text order by e.enumsortorder) as words
    from pg_enum e join pg_type t on t.oid = e.enumtypid group by t.typname`);
  const wordsOf = (all: readonly { name: string; words: readonly string[] }[]) =>
    Object.fromEntries(all.map(({ name, words }) => [name, [...words].sort()]));
  expect(wordsOf(there)).toEqual(
    wordsOf(enums.map(({ enumName, enumValues }) => ({ name: enumName, words: enumValues }))),
  );
});

async function withClient<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return work(client).finally(() => client.end());
}

// Guards against: a function, view or trigger that only the files, or only the database, has, or that says something else there.
test('functions, views and triggers are those of the files', async () => {
  const pieces = await readPieces();
  const [there, wanted] = await withClient(async (client) => [
    await definitionsIn(client),
    await definitionsOf(client, pieces),
  ]);
  expect(there.size).toBeGreaterThan(150);
  expect(Object.fromEntries(there)).toEqual(Object.fromEntries(wanted));
});

// Guards against: a function or trigger of which nobody can say why it is there.
test('each has a comment that says why, and stands once', async () => {
  const pieces = await readPieces();
  expect(pieces.filter(({ comment }) => comment.length < 30).map(({ name, file }) => `${file}: ${name}`)).toEqual([]);
  const triggers = pieces.filter(({ kind }) => kind === 'trigger' || kind === 'tally');
  const reasonless = triggers.filter(({ comment }) => !/\b[Tt]riggers?, because\b/.test(comment));
  expect(reasonless.map(({ name, file }) => `${file}: ${name}`)).toEqual([]);
  const once = new Set(pieces.map(({ text }) => text.split(/\bRETURNS\b|\bAS \$/)[0]));
  expect(once.size).toBe(pieces.length);
});

/** @returns what of a migration brings a migrated database to these pieces, and whether it does */
async function migrationTo(pieces: readonly Piece[]) {
  return withClient(async (client) => {
    const wanted = await definitionsOf(client, pieces);
    const statements = statementsBetween(await definitionsIn(client), wanted, pieces);
    await client.query('begin');
    for (const statement of statements) await client.query(statement);
    const made = await definitionsIn(client);
    await client.query('rollback');
    expect(Object.fromEntries(made)).toEqual(Object.fromEntries(wanted));
    return statements.map((statement) => statement.split('\n')[0]);
  });
}

// Guards: `npm run migration:sql` makes what brings a database to the files: what is new or changed is made, what is gone goes.
test('a migration of changed files brings the database to them', async () => {
  const pieces = await readPieces();
  expect(await migrationTo(pieces)).toEqual([]);
  const change = (name: string, to: (text: string) => string): Piece[] =>
    pieces.map((piece) => (piece.name === name ? { ...piece, text: to(piece.text) } : piece));
  expect(await migrationTo(change('close_wait', (text) => text.replace('now()', 'clock_timestamp()')))).toEqual([
    'SET LOCAL check_function_bodies = off;',
    expect.stringMatching(/^CREATE OR REPLACE FUNCTION close_wait/),
  ]);
  expect(await migrationTo(pieces.filter(({ name }) => name !== 'withdraw_links_of_member'))).toEqual([
    'DROP trigger withdraw_links_of_member on workspace_members;',
    'DROP function withdraw_links_of_member();',
  ]);
  expect(
    await migrationTo(change('log_opened_wait', (text) => text.replace('new.settled_at IS NULL', 'true'))),
  ).toEqual([
    'SET LOCAL check_function_bodies = off;',
    'DROP TRIGGER log_opened_wait ON waits;',
    'CREATE TRIGGER log_opened_wait AFTER INSERT ON waits',
  ]);
  const added = piecesIn(
    'x.sql',
    `-- New.\nCREATE TRIGGER more AFTER DELETE ON waits FOR EACH ROW EXECUTE FUNCTION log_wait();`,
  );
  expect(await migrationTo([...pieces, ...added])).toContainEqual(expect.stringMatching(/^CREATE TRIGGER more/));
  const tally = await migrationTo(change('chat_threads', (text) => text.replace("'true'", "'r.title is not null'")));
  expect(tally).toContainEqual('SELECT keep_tally(');
});
