/** Reads a workspace as it was at one moment. */
import { sql, type SQL } from 'drizzle-orm';
import { first } from '../../../platform/core/present.ts';
import { found, type Database } from '../../../platform/db/client.ts';
import type { SecretPlace, Workspace } from './manifest.ts';

export type ArchiveSource = ReturnType<typeof createArchiveSource>;

/** So many bytes of rows are read at a time, as far as the last ones let one guess. */
const FETCH_BYTES = 2 * 1024 * 1024;
const MAX_FETCH = 1_024;
const FIRST_FETCH = 16;

export const createArchiveSource = (db: Database) => ({
  /** Everything that `work` reads is as it was when it began, whatever is written meanwhile. It asks nothing but the database. */
  inSnapshot: <T>(work: () => Promise<T>): Promise<T> =>
    db.outermostTransaction(async () => {
      await db.rows(sql`set transaction isolation level repeatable read, read only`);
      return work();
    }),

  /** Gives the column `line` of a statement, a page of rows at a time. Only in a snapshot. */
  async *lines(statement: SQL): AsyncGenerator<string[]> {
    await db.rows(sql`declare archive_lines no scroll cursor for ${statement}`);
    for (let count = FIRST_FETCH; ;) {
      const rows = await db.rows<{ line: string }>(sql`fetch forward ${sql.raw(String(count))} from archive_lines`);
      if (rows.length > 0) yield rows.map(({ line }) => line);
      if (rows.length < count) break;
      count = nextFetch(rows);
    }
    await db.rows(sql`close archive_lines`);
  },

  async now(): Promise<string> {
    const { now } = first(
      await db.rows<{ now: string }>(
        sql`select to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as now`,
      ),
    );
    return now;
  },

  async workspace(customerId: string): Promise<Workspace> {
    const [row] = await db.rows<Workspace>(sql`
      select identity_workspace_id, customer_id, plan::text as plan, config,
        to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created_at
      from workspaces where customer_id = ${customerId}`);
    return found(row);
  },

  /** Where the workspace has secrets that do not go out. */
  secretPlaces: (customerId: string) =>
    db.rows<Omit<SecretPlace, 'field'> & { field: string | null }>(sql`
      select 'integration' as kind, slug as name, dotted as field from integration_secrets where customer_id = ${customerId}
      union all select 'integration_login', slug, kind || ' ' || scope from integration_credentials where customer_id = ${customerId}
      union all select 'api_key', name, null from api_keys where customer_id = ${customerId} and revoked_at is null
      union all select 'deploy_token', name, null from deploy_tokens
        where customer_id = ${customerId} and revoked_at is null and expires_at > now()
      union all select 'webhook', url, null from webhook_subscriptions where customer_id = ${customerId} and deleted_at is null
      union all select 'output_destination', name, null from output_destinations
        where customer_id = ${customerId} and sealed is not null
      order by 1, 2, 3`),
});

/** A power of two, as each text of a statement is prepared once. */
function nextFetch(rows: readonly { line: string }[]): number {
  const average = rows.reduce((sum, { line }) => sum + line.length, 0) / rows.length;
  const fitting = Math.max(1, Math.min(MAX_FETCH, FETCH_BYTES / average));
  return 2 ** Math.floor(Math.log2(fitting));
}
