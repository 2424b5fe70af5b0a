/**
 * Seals every stored secret anew with the current key of `SECRETS_KEY`, so that an older one can be taken out of it.
 *
 * Each row is its own statement, which changes the row only as it was read: it can be broken off and repeated at any
 * time, also beside a running service. A column that is not in this list would be lost with its key.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { SecretBox } from './platform/core/crypto.ts';
import { present } from './platform/core/present.ts';
import type { Database } from './platform/db/client.ts';
import { routerKeyOwner } from './resources/billing/model-router/store.ts';
import { secretOwner, tokenOwner, type SecretKey, type TokenKey } from './resources/integrations/store.ts';
import { secretOwner as destinationOwner } from './resources/output-destinations/secrets.ts';
import { secretOwner as toolOwner } from './resources/tools/store.ts';
import { secretOwner as webhookOwner } from './resources/webhook-subscriptions/store/endpoints.ts';

interface SealedColumn {
  table: string;
  column: string;
  /** The columns of the table's primary key. */
  key: readonly string[];
  /** Selects the rows that need their secret; without it all do. */
  live?: SQL;
  /** @returns the owner that the secret is sealed for */
  owner(row: Row): string;
}
/** The key of a row, the workspace, and the secret as it is now. */
type Row = Record<string, string> & { sealed: string };

const token = ({ customer_id: customerId, slug, kind, scope }: Row): TokenKey =>
  ({ customerId, slug, kind, scope }) as TokenKey;
const secret = ({ customer_id: customerId, slug, dotted }: Row): SecretKey =>
  ({ customerId, slug, dotted }) as SecretKey;
const webhook = {
  table: 'webhook_subscriptions',
  key: ['id'],
  live: sql`deleted_at is null`,
  owner: ({ customer_id: customerId, id }: Row) => webhookOwner(present(customerId), Number(id)),
};

export const SEALED_COLUMNS: readonly SealedColumn[] = [
  {
    table: 'integration_credentials',
    column: 'sealed',
    key: ['customer_id', 'slug', 'kind', 'scope'],
    owner: (row) => tokenOwner(token(row)),
  },
  {
    table: 'integration_secrets',
    column: 'sealed',
    key: ['customer_id', 'slug', 'dotted'],
    owner: (row) => secretOwner(secret(row)),
  },
  {
    table: 'tools',
    column: 'sealed_body',
    key: ['customer_id', 'slug'],
    owner: ({ customer_id: customerId, slug }) => toolOwner(present(customerId), present(slug)),
  },
  {
    table: 'output_destinations',
    column: 'sealed',
    key: ['id'],
    owner: ({ customer_id: customerId, id }) => destinationOwner(present(customerId), present(id)),
  },
  {
    table: 'router_keys',
    column: 'sealed',
    key: ['customer_id'],
    owner: (row) => routerKeyOwner(present(row.customer_id)),
  },
  { ...webhook, column: 'sealed_secret' },
  { ...webhook, column: 'sealed_previous_secret', live: sql`deleted_at is null and previous_secret_until > now()` },
];

export interface Rotation {
  table: string;
  column: string;
  resealed: number;
  /** These are sealed with a key that `SECRETS_KEY` does not have, or not for their row, and are left as they are. */
  unreadable: number;
  /** The secret turns out not to be sealed with the current key. */
  remaining: number;
}

const BATCH = 200;

export async function rotateSecrets(
  db: Database,
  secretBox: SecretBox,
  onProgress: (rotation: Rotation) => void = () => {},
): Promise<Rotation[]> {
  const rotations: Rotation[] = [];
  for (const sealed of SEALED_COLUMNS) {
    const rotation = await rotateColumn(db, secretBox, sealed);
    rotations.push(rotation);
    onProgress(rotation);
  }
  return rotations;
}

async function rotateColumn(db: Database, secretBox: SecretBox, sealed: SealedColumn): Promise<Rotation> {
  const { table, column, key, owner } = sealed;
  const name = sql.identifier(column);
  const isOld = sql`split_part(${name}, '.', 1) <> ${secretBox.keyId}`;
  const keys = sql.join(
    key.map((part) => sql.identifier(part)),
    sql`, `,
  );
  const from = sql`from ${sql.identifier(table)} where ${isOld}`;
  let resealed = 0;
  let unreadable = 0;
  for (;;) {
    // Rows that cannot be opened stay in front of those that are still to come.
    const rows = await db.rows<Row>(
      sql`select customer_id, ${keys}, ${name} as sealed ${from} order by ${keys} limit ${BATCH} offset ${unreadable}`,
    );
    for (const row of rows) {
      const again = reseal(secretBox, row.sealed, owner(row));
      if (again === undefined) unreadable += 1;
      else resealed += await update(db, sealed, row, again);
    }
    if (rows.length < BATCH) break;
  }
  const [{ remaining } = { remaining: 0 }] = await db.rows<{ remaining: number }>(
    sql`select count(*)::int as remaining ${from}`,
  );
  return { table, column, resealed, unreadable, remaining };
}

function reseal(secretBox: SecretBox, sealed: string, owner: string): string | undefined {
  try {
    return secretBox.seal(secretBox.open(sealed, owner), owner);
  } catch {
    return undefined;
  }
}

/** @returns 1, or 0 where somebody else changed the row meanwhile */
async function update(db: Database, { table, column, key }: SealedColumn, row: Row, again: string): Promise<number> {
  const name = sql.identifier(column);
  const isRow = key.map((part): SQL => sql`${sql.identifier(part)} = ${row[part]}`);
  const changed = await db.rows(sql`
    update ${sql.identifier(table)} set ${name} = ${again}
    where ${sql.join(isRow, sql` and `)} and ${name} = ${row.sealed} returning 1`);
  return changed.length;
}
