/** The tables as the code has them are those that the migrations make: columns, keys, indexes, checks and words. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { is, sql } from 'drizzle-orm';
import { getTableConfig, isPgEnum, PgTable, type PgEnum } from 'drizzle-orm/pg-core';
import { glob } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Database } from '../../../src/platform/db/client.ts';
import { openTestDatabase } from '../../support/database/database.ts';

const RESOURCES = fileURLToPath(new URL('../../../src/resources', import.meta.url));
/** Those of the migrations themselves, and what triggers write, which no query of ours names. */
const ELSEWHERE = /^(__drizzle|pg_)/;

let db: Database;
let close: () => Promise<void>;
let tables: ReturnType<typeof getTableConfig>[];
let enums: PgEnum<[string, ...string[]]>[];
beforeAll(async () => {
  const database = await openTestDatabase();
  ({ db } = database);
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
