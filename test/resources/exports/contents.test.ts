/** The declaration of what goes into an archive, beside what there is. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { BROUGHT } from '../../../src/resources/exports/store/contents.ts';
import { TENANT_DATA } from '../../../src/resources/tenant-data.ts';
import { openTestDatabase, type TestDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
let columns: { table: string; column: string }[];

beforeAll(async () => {
  database = await openTestDatabase();
  columns = await database.db.rows(sql`
    select c.relname as table, a.attname as column from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
    order by 1, a.attnum`);
});
afterAll(() => database?.close());

// Guards against: a new table that no archive has, and nobody decided so.
test('each table goes out, or says why it does not', () => {
  expect(Object.keys(TENANT_DATA).sort()).toEqual([...new Set(columns.map(({ table }) => table))].sort());
});

// Guards against: a new column that is left behind, or goes out though it is a secret, because nobody decided.
test('each column of what goes out does so, or says why it does not', () => {
  for (const { table, columns: brought, without } of BROUGHT) {
    const said = [...brought.split(' '), ...Object.keys(without)].sort();
    const there = columns.filter((each) => each.table === table).map(({ column }) => column);
    expect({ table, columns: said }).toEqual({ table, columns: there.sort() });
  }
});

// Guards: what is sealed, hashed or a token goes nowhere, whatever its table is called.
test('no column whose name says that it is a secret goes out', () => {
  const secret = /sealed|hash|token|secret|hmac|prefix|password/;
  // Digests of what is no secret, and counts.
  const known = ['content_hash', 'input_tokens', 'max_output_tokens', 'output_tokens'];
  const going = BROUGHT.flatMap(({ columns: brought }) => brought.split(' '));
  expect(going.filter((name) => secret.test(name) && !known.includes(name))).toEqual([]);
});
