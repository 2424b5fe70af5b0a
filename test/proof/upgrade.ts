/**
 * R6: from nothing, and from the schema of every version since 1.0 with rows in its tables, to the current one: by two
 * processes at once, while a third is killed on the way, and then once more. Whatever a row said it has to say afterwards.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { migrate } from '../../src/platform/db/migrate.ts';
import { withDatabase } from '../support/database/database-template.ts';
import { fillTables } from '../support/database/fill-tables.ts';
import { startNativePostgres } from '../support/database/native-postgres.ts';
import { migrateUpTo, migrationTags, startUpgrade, upgrade } from '../support/database/upgrade.ts';
import { seeded } from './random.ts';
import { prove, type Violation } from './report.ts';

/** The killed one is killed within this time of its start of the upgrade. */
const KILLED_WITHIN_MS = 500;

/** Tables that a release removed with what was in them; its section of the changelog says so. */
const REMOVED: readonly string[] = [];

await prove(
  {
    name: 'upgrade',
    claim: 'R6',
    title: 'a database of any version since 1.0 is brought forward whole, also by many at once',
  },
  async ({ seed, small, say, repeat }) => {
    const random = seeded(seed);
    const postgres = await startNativePostgres(['max_connections=100']);
    if (typeof postgres === 'string') throw new Error(`no native Postgres: ${postgres}`);
    const admin = await connect(postgres.url);
    const create = async (name: string) => {
      await admin.query(`create database ${name}`);
      return withDatabase(postgres.url, name);
    };
    const fresh = await create('fresh');
    await migrate(fresh);
    const wantedSchema = await using(fresh, schemaOf);

    const tags = await migrationTags();
    const before = tags.slice(0, -1);
    const earlier = [undefined, ...(small ? before.slice(-1) : before)];
    const violations: Violation[] = [];
    const did = { 'versions to start from': earlier.length, rows: 0, tables: 0, upgrades: 0, 'upgrades killed': 0 };
    const empty = new Set<string>();
    for (const [n, tag] of earlier.entries()) {
      const start = tag ?? 'nothing';
      const violated = (what: string) => violations.push({ what: `from ${start}: ${what}`, repeat });
      const url = await create(`from_${n}`);
      if (tag !== undefined) await migrateUpTo(url, tag);
      const made = await using(url, (client) => fillTables(client, { rowsPerTable: small ? 5 : 100, random }));
      for (const [table, rows] of made) {
        if (rows === 0) empty.add(table);
        did.rows += rows;
      }
      did.tables = Math.max(did.tables, made.size);
      const rowsBefore = await using(url, rowsOf);

      const killed = startUpgrade(url);
      const upgrades = [upgrade(url), upgrade(url)];
      await sleep(random() * KILLED_WITHIN_MS);
      if (killed.child.exitCode === null) did['upgrades killed'] += 1;
      killed.child.kill('SIGKILL');
      for (const { reason } of await rejected([killed.ended, ...upgrades])) violated(String(reason));
      for (const { reason } of await rejected([upgrade(url)])) violated(`the second time: ${reason}`);
      did.upgrades += 3;

      const schema = await using(url, schemaOf);
      for (const line of differenceOf(wantedSchema, schema)) violated(`the schema is not that of a new one: ${line}`);
      const lost = await using(url, (client) => missingOf(client, rowsBefore));
      for (const line of lost) violated(line);
      say(`${start}: ${[...made.values()].reduce((sum, rows) => sum + rows, 0)} rows in ${made.size} tables, upgraded`);
    }
    await admin.end();
    await postgres.stop();
    const filled: Record<string, string> =
      empty.size === 0 ? {} : { 'tables that took no made-up row': [...empty].join(' ') };
    return { did: { ...did, ...filled }, violations };
  },
);

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

async function using<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connect(url);
  return work(client).finally(() => client.end());
}

async function rejected(all: readonly Promise<void>[]) {
  return (await Promise.allSettled(all)).filter((each) => each.status === 'rejected');
}

/** Columns with their types, indexes, constraints and triggers, a line each. */
async function schemaOf(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(`
    select format('column %s.%s %s null:%s default:%s', table_name, column_name, data_type, is_nullable, column_default) as line
      from information_schema.columns where table_schema = 'public'
    union all select 'index ' || indexdef from pg_indexes where schemaname = 'public'
    union all select format('constraint %s %s', conrelid::regclass, pg_get_constraintdef(oid))
      from pg_constraint where connamespace = 'public'::regnamespace
    union all select pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
    order by 1`);
  return rows.map(({ line }) => line);
}

function differenceOf(wanted: readonly string[], found: readonly string[]): string[] {
  const missing = wanted.filter((line) => !found.includes(line)).map((line) => `without ${line}`);
  return [...missing, ...found.filter((line) => !wanted.includes(line)).map((line) => `with ${line}`)];
}

interface TableRows {
  columns: string[];
  /** As `to_jsonb` writes them. */
  rows: string[];
}

async function rowsOf(client: pg.Client): Promise<Map<string, TableRows>> {
  const { rows: tables } = await client.query<{ name: string; columns: string[] }>(`
    select table_name as name, array_agg(column_name::text) as columns
    from information_schema.columns where table_schema = 'public' group by 1 order by 1`);
  const found = new Map<string, TableRows>();
  for (const { name, columns } of tables) found.set(name, { columns, rows: await textsOf(client, name, columns) });
  return found;
}

async function textsOf(client: pg.Client, table: string, columns: readonly string[]): Promise<string[]> {
  const { rows } = await client.query<{ row: string }>(
    `select jsonb_object_agg(key, value)::text as row
     from (select row_number() over () as n, to_jsonb(t) as whole from "${table}" t) r, jsonb_each(r.whole)
     where key = any($1) group by r.n`,
    [columns],
  );
  return rows.map(({ row }) => row);
}

/** What was there and is not there any more, or says something else. Columns that are gone are not asked for. */
async function missingOf(client: pg.Client, before: ReadonlyMap<string, TableRows>): Promise<string[]> {
  const now = await rowsOf(client);
  const missing: string[] = [];
  for (const [table, { columns, rows }] of before) {
    const kept = now.get(table);
    if (!kept) {
      if (REMOVED.includes(table)) continue;
      missing.push(`the table ${table} is gone, with ${rows.length} rows`);
      continue;
    }
    const shared = columns.filter((name) => kept.columns.includes(name));
    const there = new Set(await textsOf(client, table, shared));
    const wanted = rows.map((row) => withOnly(row, shared));
    const lost = wanted.filter((row) => !there.has(row));
    if (lost.length > 0)
      missing.push(`${table}: ${lost.length} of ${rows.length} rows are not as they were: ${lost[0]}`);
  }
  return missing;
}

/** Without parsing where nothing is gone: numbers keep every digit. */
function withOnly(row: string, columns: readonly string[]): string {
  const all = JSON.parse(row) as Record<string, unknown>;
  if (Object.keys(all).every((name) => columns.includes(name))) return row;
  throw new Error(
    `columns were dropped (${Object.keys(all)
      .filter((name) => !columns.includes(name))
      .join()}): compare them here`,
  );
}
