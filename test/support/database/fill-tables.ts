/**
 * Rows for every table that there is, made of what the database itself says of its columns: types, enums, references.
 * What a check asks for is found by trying; a table that takes nothing is told.
 */
import type pg from 'pg';
import { itemAt, present } from '../../../src/platform/core/present.ts';

interface Column {
  name: string;
  type: string;
  /** Labels of an enum. */
  labels: string[] | null;
  isNullable: boolean;
  hasDefault: boolean;
  isArray: boolean;
}
interface Reference {
  columns: string[];
  table: string;
  referenced: string[];
}
interface Table {
  name: string;
  columns: Column[];
  references: Reference[];
}

/** For one row; most tables take one of the first few. */
const MAX_TRIES = 60;

/** @returns rows by table; 0 for those that took none */
export async function fillTables(
  client: pg.Client,
  { rowsPerTable, random }: { rowsPerTable: number; random: () => number },
): Promise<Map<string, number>> {
  const tables = await describeTables(client);
  const made = new Map(tables.map(({ name }) => [name, 0]));
  // A reference needs a row to point to, which may come later in the alphabet, and from a table that refers back.
  for (let pass = 0; pass < 4; pass++) {
    for (const table of tables) {
      for (let tries = 0; present(made.get(table.name)) < rowsPerTable && tries < MAX_TRIES * rowsPerTable; tries++) {
        if (tries === MAX_TRIES && made.get(table.name) === 0) break;
        if (await insertOne(client, table, random)) made.set(table.name, present(made.get(table.name)) + 1);
      }
    }
  }
  return made;
}

async function describeTables(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(`
    select c.relname as name,
      (select json_agg(json_build_object('name', a.attname, 'type', coalesce(base.typname, t.typname),
          'isNullable', not a.attnotnull, 'hasDefault', a.atthasdef or a.attidentity <> '', 'isArray', t.typcategory = 'A',
          'labels', (select json_agg(enumlabel order by enumsortorder) from pg_enum where enumtypid = t.oid)))
        from pg_attribute a join pg_type t on t.oid = a.atttypid left join pg_type base on base.oid = t.typbasetype
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and a.attidentity <> 'a'
      ) as columns,
      coalesce((select json_agg(json_build_object('table', f.confrelid::regclass::text,
          'columns', (select json_agg(attname order by array_position(f.conkey, attnum))
            from pg_attribute where attrelid = f.conrelid and attnum = any(f.conkey)),
          'referenced', (select json_agg(attname order by array_position(f.confkey, attnum))
            from pg_attribute where attrelid = f.confrelid and attnum = any(f.confkey))))
        from pg_constraint f where f.conrelid = c.oid and f.contype = 'f'), '[]') as references
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' order by c.relname`);
  return rows;
}

async function insertOne(client: pg.Client, table: Table, random: () => number): Promise<boolean> {
  const values = new Map<string, unknown>();
  for (const column of table.columns) {
    if (column.hasDefault && random() < 0.7) continue;
    values.set(column.name, column.isNullable && random() < 0.5 ? null : valueFor(column, random));
  }
  for (const { columns, table: other, referenced } of table.references) {
    const isOptional = columns.every((name) => table.columns.find((each) => each.name === name)?.isNullable);
    if (isOptional && random() < 0.5) {
      for (const name of columns) values.set(name, null);
      continue;
    }
    const { rows } = await client.query<Record<string, unknown>>({
      text: `select ${referenced.map((name) => `${quoted(name)}::text`).join()} from ${other} order by md5($1 || ctid::text) limit 1`,
      values: [String(random())],
    });
    const [row] = rows;
    if (!row) return false;
    columns.forEach((name, i) => values.set(name, row[itemAt(referenced, i)]));
  }
  const names = [...values.keys()];
  const text = `insert into ${quoted(table.name)} (${names.map(quoted).join()}) values (${names.map((_, i) => `$${i + 1}`).join()})`;
  try {
    await client.query(text, [...values.values()]);
    return true;
  } catch {
    // A check, a unique index or a trigger would have none of it.
    return false;
  }
}

const quoted = (name: string): string => `"${name}"`;

function valueFor({ type, labels, isArray, name }: Column, random: () => number): unknown {
  const number = Math.floor(random() * 1_000);
  if (labels) return labels[Math.floor(random() * labels.length)];
  if (isArray) return '{}';
  if (/^(int|float|numeric)/.test(type)) return number;
  if (type === 'bool') return random() < 0.5;
  if (/^(timestamp|date)/.test(type)) return new Date(1_700_000_000_000 + number * 60_000).toISOString();
  if (type === 'jsonb' || type === 'json') return random() < 0.5 ? '{}' : '[]';
  if (type === 'uuid') return uuidOf(random);
  if (type === 'vector') return null;
  if (type === 'bytea') return Buffer.from([number % 256]);
  if (type === 'interval') return `${number} seconds`;
  return `${name}-${Math.floor(random() * 2 ** 32).toString(36)}`;
}

const uuidOf = (random: () => number): string => {
  const digits = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join('');
  return digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5');
};
