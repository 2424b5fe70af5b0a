/**
 * Checks before anything starts that what is stored sealed can be opened. With another key the service would look well,
 * fail whatever needs a credential, and seal what is set meanwhile so that the right key does not open it later.
 */
import { sql, type SQL } from 'drizzle-orm';
import { ConfigError } from './platform/core/config.ts';
import type { SecretBox } from './platform/core/crypto.ts';
import type { Database } from './platform/db/client.ts';
import { SEALED_COLUMNS } from './rotate-secrets.ts';

interface KeyInUse {
  id: string;
  table: string;
  secrets: number;
}

/** @param lost names of keys that are given up @throws ConfigError */
export async function requireKeysInUse(
  db: Database,
  { keyIds }: Pick<SecretBox, 'keyIds'>,
  lost: readonly string[],
): Promise<void> {
  const known = [...keyIds, ...lost];
  const inUse = await db.rows<KeyInUse>(sql.join(SEALED_COLUMNS.map(keysOf), sql` union all `));
  const missing = Map.groupBy(
    inUse.filter(({ id }) => !known.includes(id)),
    ({ id }) => id,
  );
  if (missing.size === 0) return;
  const told = [...missing].map(([id, uses]) => {
    const where = uses.map(({ table, secrets }) => `${secrets} in ${table}`).join(', ');
    return `SECRETS_KEY: does not name the key ${id}, with which stored secrets are sealed (${where})`;
  });
  throw new ConfigError(
    [
      ...told,
      'Put that key behind the current one (SECRETS_KEY="current,former"). The embedded mode keeps its own in secrets.json of',
      'the data directory: bring that file back, a backup has it. Is the key lost for ever, then start with',
      `SECRETS_KEY_LOST=${[...missing.keys()].join()} and set those credentials anew.`,
    ].join('\n'),
  );
}

function keysOf({ table, column, live = sql`true` }: (typeof SEALED_COLUMNS)[number]): SQL {
  const name = sql.identifier(column);
  // A text that begins with no name of a key was never sealed.
  return sql`
    (select split_part(${name}, '.', 1) as id, ${table} as table, count(*)::int as secrets from ${sql.identifier(table)}
    where ${name} ~ '^[0-9a-f]{8}\\.' and ${live} group by 1 order by 1)`;
}
