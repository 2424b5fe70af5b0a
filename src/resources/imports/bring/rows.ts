/** Puts rows of an archive into the tables of a workspace. */
import { sql, type SQL, type SQLChunk } from 'drizzle-orm';
import { first, present } from '../../../platform/core/present.ts';
import { isRecord } from '../../../platform/core/record.ts';
import type { Database } from '../../../platform/db/client.ts';
import { BROUGHT } from '../../exports/store/contents.ts';
import type { Line } from '../archive/lines.ts';
import { isId, type IdKind, type Renew } from './ids.ts';
import { BROUGHT_TABLES, type BroughtTable } from './tables.ts';
import { oddValueOf } from './values.ts';

const COLUMNS = new Map(BROUGHT.map(({ table, columns }) => [table, columns.split(' ')]));

export interface Counted {
  /** Of these rows, what they belong to is of the workspace. */
  fitting: number;
  added: number;
}

/**
 * Inserts what is not there. What somebody else has under the same id stays as it is, and is shown to nobody.
 * @param table one of `BROUGHT_TABLES`
 */
export async function insertRows(
  db: Pick<Database, 'rows'>,
  customerId: string,
  table: string,
  rows: readonly Line[],
): Promise<Counted> {
  const { own, unless, isParentsOwn, ...spec } = specOf(table);
  const columns = columnsOf(table).filter((name) => !(name in own));
  const given = Object.entries(own).flatMap(([name, value]) => (value ? [{ name, value: value(customerId) }] : []));
  const owner = isParentsOwn ? [] : [{ name: 'customer_id', value: sql`${customerId}` }];
  const all = [...columns.map((name) => ({ name, value: sql`r.${sql.identifier(name)}` })), ...given, ...owner];
  const name = sql.identifier(table);
  return first(
    await db.rows<Counted>(sql`
    with given as (select * from jsonb_populate_recordset(null::${name}, ${JSON.stringify(rows)}::jsonb)),
    fitting as (select * from given r where ${fits(spec, customerId)}),
    added as (
      insert into ${name} (${listOf(all.map((one) => sql.identifier(one.name)))})
      select ${listOf(all.map(({ value }) => value))} from fitting r
      where ${unless ? sql`not exists (${unless(customerId)})` : sql`true`}
      on conflict do nothing returning 1)
    select (select count(*)::int from fitting) as fitting, (select count(*)::int from added) as added`),
  );
}

const listOf = (parts: SQLChunk[]): SQL => sql.join(parts, sql`, `);

function fits({ parent, fits: fitting }: Pick<BroughtTable, 'parent' | 'fits'>, customerId: string): SQL {
  if (fitting) return sql`(${fitting(customerId)})`;
  if (!parent) return sql`true`;
  const { column, table } = parent;
  return sql`exists (select 1 from ${sql.identifier(table)} p
    where p.customer_id = ${customerId} and p.id = r.${sql.identifier(column)})`;
}

const specOf = (table: string): BroughtTable => present(BROUGHT_TABLES[table], table);
const columnsOf = (table: string): readonly string[] => present(COLUMNS.get(table), table);

/** @returns why a row cannot be brought at all */
export function faultOf(table: string, row: Line): string | undefined {
  const columns = columnsOf(table);
  const unknown = Object.keys(row).find((name) => !columns.includes(name));
  if (unknown !== undefined) return `has a field that ${table} has not: ${unknown}`;
  for (const [name, kind] of Object.entries(specOf(table).ids)) {
    const id = row[name] ?? null;
    if (id !== null && !isId(kind, id)) return `has no id in ${name}`;
  }
  const odd = oddValueOf(table, row);
  return odd === undefined ? undefined : `has something else in ${odd} than the service writes there`;
}

/** @returns the row under the ids that it has here, and that what it names has */
export function renewed(table: string, row: Line, renew: Renew): Line {
  const { ids, idsWithin = {} } = specOf(table);
  const within = Object.entries(idsWithin).flatMap(([column, fields]) => {
    const value = row[column];
    return isRecord(value) ? [[column, withNewIds(value, fields, renew)]] : [];
  });
  return { ...withNewIds(row, ids, renew), ...Object.fromEntries(within) };
}

function withNewIds(fields: Line, kinds: Readonly<Record<string, IdKind>>, renew: Renew): Line {
  const ids = Object.entries(kinds).flatMap(([name, kind]) => {
    const id = fields[name];
    return isId(kind, id) ? [[name, renew(kind, id)]] : [];
  });
  return { ...fields, ...Object.fromEntries(ids) };
}

const CUT = 'it was under way when the archive was made';
const OPEN_TASK = ['running', 'blocked', 'review'];

/**
 * Nothing of an archive works on: what was under way has ended when the archive was made.
 * @returns undefined where it had ended
 */
export function ended(table: string, row: Line, asOf: string): Line | undefined {
  const { status } = row;
  if (table === 'runs' && isIn(['queued', 'running'], status)) {
    return { ...row, status: 'cancelled', completed_at: asOf, error: CUT };
  }
  if (table === 'projects' && isIn(['planning', 'active', 'paused'], status)) {
    return { ...row, status: 'abandoned', pause_reason: null, abandoned_at: asOf };
  }
  if (table === 'tasks' && isIn(OPEN_TASK, status)) return { ...row, status: 'failed', completed_at: asOf };
  if (table === 'subtasks' && isIn(OPEN_TASK, status)) {
    return { ...row, status: 'failed', completed_at: asOf, error: CUT };
  }
  if (table === 'attempts' && isIn(['pending', 'running'], status)) {
    return { ...row, status: 'failed', completed_at: asOf, error: CUT };
  }
  return undefined;
}

const isIn = (words: readonly string[], value: unknown): boolean => words.some((word) => word === value);
