/** Reads what of a workspace goes into an archive, by what each table says of itself. */
import { sql, type SQL } from 'drizzle-orm';
import type { Brought } from '../../../platform/db/tenant-data.ts';
import { TENANT_DATA } from '../../tenant-data.ts';

/** Tables stand in the order of the archive. */
export const BROUGHT: readonly (Brought & { table: string })[] = Object.entries(TENANT_DATA).flatMap(
  ([table, { archive }]) => ('left' in archive ? [] : [{ table, ...archive }]),
);

const rowsOf = (table: string, { from }: Brought, customerId: string): SQL =>
  from?.(customerId) ?? sql`${sql.identifier(table)} t where t.customer_id = ${customerId}`;

const orderOf = ({ order }: Brought): SQL =>
  order === undefined
    ? sql``
    : sql`order by ${sql.join(
        order.split(' ').map((name) => sql`t.${sql.identifier(name)}`),
        sql`, `,
      )}`;

/** @returns the rows of a workspace, a line of JSON each, exactly as Postgres has their values */
export function linesOf({ table, ...content }: Brought & { table: string }, customerId: string): SQL {
  const columns = content.columns.split(' ').map((name) => sql`t.${sql.identifier(name)}`);
  return sql`select row_to_json(line)::text as line from (
    select ${sql.join(columns, sql`, `)} from ${rowsOf(table, content, customerId)} ${orderOf(content)}) line`;
}

/** @returns where the bytes of the workspace's files lie */
export function filesOf({ table, file, ...content }: Brought & { table: string }, customerId: string): SQL | undefined {
  if (!file) return undefined;
  const key = sql`t.${sql.identifier(file.key)}`;
  return sql`select json_build_object('path', ${`files/${table}/`}::text || t.${sql.identifier(file.row)}, 'key', ${key})::text as line
    from ${rowsOf(table, content, customerId)} and ${key} is not null`;
}
