/**
 * Finds rows that refer to a row of another workspace. Every foreign key is checked, and every reference that `undeclared.ts`
 * lists. A test database is checked when it is closed (`database.ts`), so the whole suite is searched.
 */
import pg from 'pg';
import { itemAt } from '../../../src/platform/core/present.ts';
import { JSON_NAMES, UNDECLARED, type Undeclared } from './undeclared.ts';

interface Column {
  table: string;
  name: string;
  type: string;
}

/** A column whose values name rows of a table. */
export interface Reference extends Pick<Undeclared, 'prefix' | 'isCall' | 'when'> {
  column: Column;
  to: string;
  key: string;
  /** The name of the id in a document of JSON. */
  json?: string;
}

interface ForeignKey {
  table: string;
  columns: string[];
  to: string;
  keys: string[];
}

interface Schema {
  columns: Column[];
  foreignKeys: ForeignKey[];
}

type Client = Pick<pg.Client, 'query'>;

export async function readSchema(client: Client): Promise<Schema> {
  const { rows: columns } = await client.query<Column>(`
    select c.relname as table, a.attname as name, format_type(a.atttypid, null) as type
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' order by 1, a.attnum`);
  const { rows: foreignKeys } = await client.query<ForeignKey>(`
    select f.conrelid::regclass::text as table, f.confrelid::regclass::text as to,
      (select array_agg(attname::text order by array_position(f.conkey, attnum))
        from pg_attribute where attrelid = f.conrelid and attnum = any(f.conkey)) as columns,
      (select array_agg(attname::text order by array_position(f.confkey, attnum))
        from pg_attribute where attrelid = f.confrelid and attnum = any(f.confkey)) as keys
    from pg_constraint f where f.contype = 'f' and f.connamespace = 'public'::regnamespace order by 1, 3`);
  return { columns, foreignKeys };
}

/** Returns every reference that could connect two workspaces; a key that includes `customer_id` cannot. */
export function referencesOf({ columns, foreignKeys }: Schema): Reference[] {
  const columnOf = (table: string, name: string) =>
    columns.filter((column) => column.table === table && column.name === name);
  const declared = foreignKeys
    .filter((key) => !key.columns.includes('customer_id') && !isOwner(key, { columns, foreignKeys }))
    .flatMap(({ table, columns, to, keys }) =>
      columnOf(table, itemAt(columns, 0)).map((column) => ({ column, to, key: itemAt(keys, 0) })),
    );
  const undeclared = UNDECLARED.flatMap(({ from, column: name, to, ...more }) =>
    columnOf(from, name).flatMap((column): Reference[] =>
      to === 'json'
        ? Object.entries(JSON_NAMES).map(([json, table]) => ({ column, to: table, key: 'id', json }))
        : [{ column, to, key: 'id', ...more }],
    ),
  );
  return [...declared, ...undeclared];
}

/** Returns for example `runs.parent_run_id -> runs`. */
export const nameOf = ({ column: { table, name }, json, to }: Reference): string =>
  `${table}.${name}${json === undefined ? '' : `.${json}`} -> ${to}`;

/** A table without `customer_id` has the workspace of its parent, which its first key names. */
const isOwner = (key: ForeignKey, { columns, foreignKeys }: Schema): boolean =>
  !columns.some(({ table, name }) => table === key.table && name === 'customer_id') &&
  foreignKeys.find(({ table }) => table === key.table) === key;

function workspaceOf(table: string, alias: string, schema: Schema): string {
  const owner = schema.foreignKeys.find((key) => key.table === table && isOwner(key, schema));
  if (!owner) return `${alias}.customer_id`;
  const { to, columns, keys } = owner;
  return `(select ${workspaceOf(to, 'o', schema)} from ${to} o where o.${itemAt(keys, 0)} = ${alias}.${itemAt(columns, 0)})`;
}

/** Selects the workspaces of both ends of each row that refers to another one, as `mine` and `theirs`. */
function endsOf(reference: Reference, schema: Schema): string {
  const { column, to, key, json, prefix = '', isCall = false, when } = reference;
  const { table, name, type } = column;
  const text = json === undefined ? `c.${name}::text` : `v #>> '{}'`;
  const isList = type.endsWith('[]');
  const value = isList ? 'i' : prefix === '' ? text : `substr(${text}, ${prefix.length + 1})`;
  const conditions = [
    prefix !== '' && `${text} like '${prefix}%'`,
    isCall && `${isList ? 'i' : text} like '%/%'`,
    when && `c.${when[0]} = '${when[1]}'`,
  ].filter((condition) => condition !== undefined && condition !== false);
  // A text that the service did not write may be no JSON.
  const written = type === 'text' ? `(case when c.${name} like '{"%}' then c.${name} end)::jsonb` : `c.${name}`;
  // Events repeat the configuration of a gate, which are words of its author (`NO_REFERENCES`).
  const document = `(case jsonb_typeof(${written}) when 'object' then ${written} - 'gate_config' else ${written} end)`;
  return `select ${workspaceOf(table, 'c', schema)} as mine, ${workspaceOf(to, 'p', schema)} as theirs from ${table} c
    ${json === undefined ? '' : `cross join jsonb_path_query(${document}, '$.**."${json}"') v`}
    ${isList ? `cross join unnest(c.${name}) i` : ''}
    join ${to} p on p.${key}::text = ${isCall ? `split_part(${value}, '/', 1)` : value}
    ${conditions.length > 0 ? `where ${conditions.join(' and ')}` : ''}`;
}

/**
 * Returns one line for each reference with a row whose two ends are of different workspaces.
 * @param wanted all that there are, if it is left out
 */
export async function crossedReferences(client: Client, wanted?: readonly Reference[]): Promise<string[]> {
  const schema = await readSchema(client);
  const counts = (wanted ?? referencesOf(schema)).map(
    (
      reference,
    ) => `select '${nameOf(reference)}' as name, count(*) as rows, min(mine || ' to one of ' || theirs) as example
      from (${endsOf(reference, schema)}) ends where mine is distinct from theirs having count(*) > 0`,
  );
  const { rows } = await client.query<Record<'name' | 'rows' | 'example', string>>(counts.join(' union all '));
  return rows.map(({ name, rows, example }) => `${name}: ${rows} rows, such as one of ${example}`);
}

/** Checks the database at an address. @throws Error with every reference that connects two workspaces */
export async function requireOwnReferences(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // Ids are compared as texts, of which the planner knows nothing: it would look through a table for each id.
    await client.query('set enable_nestloop = off');
    const crossed = await crossedReferences(client);
    if (crossed.length > 0) throw new Error(`rows refer to another workspace:\n  ${crossed.join('\n  ')}`);
  } finally {
    await client.end();
  }
}
