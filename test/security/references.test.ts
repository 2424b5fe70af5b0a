/** No row refers to a row of another workspace: the check that every test database goes through covers each reference, and works. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { itemAt } from '../../src/platform/core/present.ts';
import { seeded } from '../proof/random.ts';
import { openTestDatabase, type TestDatabase } from '../support/database/database.ts';
import { fillTables } from '../support/database/fill-tables.ts';
import { crossedReferences, nameOf, readSchema, referencesOf, type Reference } from '../support/database/references.ts';
import { NO_REFERENCES, UNDECLARED } from '../support/database/undeclared.ts';

let database: TestDatabase;
let client: pg.Client;
let references: Reference[];
beforeAll(async () => {
  database = await openTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  references = referencesOf(await readSchema(client));
});
afterAll(async () => {
  await client?.end();
  await database?.close();
});

describe('columns', () => {
  // Guards against: a new column with ids that nothing holds to its workspace. Add it to test/support/database/undeclared.ts.
  test('each one that may hold ids is a foreign key, a listed reference, or none for a reason', async () => {
    const { columns, foreignKeys } = await readSchema(client);
    const keys = foreignKeys.flatMap(({ table, columns }) => columns.map((name) => `${table}.${name}`));
    const listed = [...UNDECLARED.map(({ from, column }) => `${from}.${column}`), ...Object.keys(NO_REFERENCES)];
    const mayHold = columns
      .filter(({ name }) => name !== 'id' && name !== 'customer_id')
      .filter(({ name, type }) => /_ids?$/.test(name) || /^(uuid|jsonb?)$|\[\]$/.test(type))
      .map(({ table, name }) => `${table}.${name}`);
    expect(mayHold.filter((name) => !keys.includes(name) && !listed.includes(name))).toEqual([]);
    const all = columns.map(({ table, name }) => `${table}.${name}`);
    expect(listed.filter((name) => !all.includes(name))).toEqual([]);
  });

  // Guards against: a table that has no workspace of its own and none of a parent, which the check would pass over.
  test('each table that is referred to has a workspace', async () => {
    const { columns } = await readSchema(client);
    const without = references.filter(
      ({ to }) => !columns.some((each) => each.table === to && each.name === 'customer_id'),
    );
    expect(without.map(nameOf)).toEqual([]);
  });
});

describe('the check', () => {
  /** Runs statements with foreign keys and triggers off. */
  const withoutKeys = () => client.query('set local session_replication_role = replica');

  /** Keeps one row that can refer, and has it refer to a row that it puts into another workspace. */
  async function forge(reference: Reference, nth: number): Promise<void> {
    const { column, to, key, json, prefix = '', isCall, when } = reference;
    const { table, name, type } = column;
    const { rows } = await client.query<{ id: string }>(
      `select ${key}::text as id from ${to} order by ctid desc limit 1 offset ${nth}`,
    );
    const { id } = itemAt(rows, 0);
    const named = `${prefix}${id}${isCall ? '/call' : ''}`;
    const list = type.endsWith('[]') ? [named] : named;
    const value = json === undefined ? list : JSON.stringify({ in: [{ [json]: named }] });
    await client.query(`update ${to} set customer_id = 'another' where ${key}::text = $1`, [id]);
    const first = `select ctid from ${table} ${table === to ? `where ${key}::text <> '${id}'` : ''} order by ctid limit 1`;
    if (table !== to) await client.query(`delete from ${table} where ctid <> (${first})`);
    const condition = when ? `, ${when[0]} = '${when[1]}'` : '';
    await client.query(`update ${table} set ${name} = $1 ${condition} where ctid = (${first})`, [value]);
  }

  async function isForgedRowFound(reference: Reference, nth: number): Promise<boolean> {
    await client.query('begin');
    await withoutKeys();
    await forge(reference, nth);
    const found = await crossedReferences(client, [reference]);
    await client.query('rollback');
    return found.length > 0;
  }

  // Guards: each reference is really looked at: one forged row is found.
  test('finds a forged row of each reference', async () => {
    const made = await fillTables(client, { rowsPerTable: 2, random: seeded(1) });
    expect([...made].filter(([, rows]) => rows < 2)).toEqual([]);
    await client.query('begin');
    await withoutKeys();
    const { rows: checks } = await client.query<{ table: string; name: string }>(`
      select conrelid::regclass::text as table, conname as name from pg_constraint
      where contype = 'c' and connamespace = 'public'::regnamespace`);
    for (const { table, name } of checks) await client.query(`alter table ${table} drop constraint ${name}`);
    const tables = new Set(references.flatMap(({ column, to }) => [column.table, to]));
    const { columns } = await readSchema(client);
    for (const { table, name } of columns) {
      if (name === 'customer_id' && tables.has(table)) await client.query(`update ${table} set customer_id = 'one'`);
    }
    await client.query('commit');
    expect(await crossedReferences(client)).toEqual([]);

    const missed: string[] = [];
    for (const reference of references) {
      // A row whose workspace is that of the row that it names cannot be forged: then the other one is named.
      const isFound = (await isForgedRowFound(reference, 0)) || (await isForgedRowFound(reference, 1));
      if (!isFound) missed.push(nameOf(reference));
    }
    expect(missed).toEqual([]);
    expect(references.length).toBeGreaterThan(100);
  });

  // Guards: every test file's database goes through it.
  test('fails a test database when it is closed', async () => {
    const other = await openTestDatabase();
    const forger = new pg.Client({ connectionString: other.url });
    await forger.connect();
    await forger.query(`
      insert into workspaces (customer_id, identity_workspace_id, plan) values ('one', 'acc_one', 'free'), ('two', 'acc_two', 'free')`);
    await forger.query(
      `insert into runs (id, customer_id, transport, prompt) values ('run_of_one', 'one', 'rest', 'Hello')`,
    );
    await forger.query(`
      insert into log_events (customer_id, kind, topic, subject, run_id, payload)
      values ('two', 'delivery', 'delivery.exhausted', 'one', 'run_of_one', '{}')`);
    await forger.end();
    await expect(other.close()).rejects.toThrow('log_events.run_id -> runs: 1 rows, such as one of two to one of one');
  });
});
