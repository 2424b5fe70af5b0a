/** Queries on deploy tokens. `live` takes no workspace: the hash says whose token it is, and the session which one it claims. */
import { and, eq, getTableColumns, sql } from 'drizzle-orm';
import { first } from '../../platform/core/present.ts';
import type { Role } from '../../platform/core/rights.ts';
import { found, type Database } from '../../platform/db/client.ts';
import { memberOf, wasRemoved } from '../members/store/fragments.ts';
import { deployTokens } from './table.ts';

export type DeployTokenStore = ReturnType<typeof createDeployTokenStore>;
export type DeployTokenRow = typeof deployTokens.$inferSelect;

const isLive = sql<boolean>`${deployTokens.revokedAt} is null and ${deployTokens.expiresAt} > now()`;

/** Revokes the tokens that a person made, in the transaction that removes the person. @param email in lower case */
export const revokeTokensMadeBy = (db: Database, customerId: string, email: string): Promise<unknown> =>
  db.rows(sql`
    update deploy_tokens set revoked_at = now()
    where customer_id = ${customerId} and revoked_at is null and person_behind(customer_id, created_by) = ${email}`);

export const createDeployTokenStore = (db: Database) => ({
  /** @returns those that can be used first, then the newest first */
  list: (customerId: string): Promise<(DeployTokenRow & { isLive: boolean })[]> =>
    db.orm
      .select({ ...getTableColumns(deployTokens), isLive })
      .from(deployTokens)
      .where(eq(deployTokens.customerId, customerId))
      .orderBy(sql`(${isLive}) desc`, sql`${deployTokens.id} desc`),

  countLive: (customerId: string): Promise<number> =>
    db.orm.$count(deployTokens, and(eq(deployTokens.customerId, customerId), isLive)),

  /** @returns the number of the next one, which stands in the token itself */
  async nextId(): Promise<number> {
    const { id } = first(
      await db.rows<{ id: number }>(sql`select nextval(pg_get_serial_sequence('deploy_tokens', 'id'))::int as id`),
    );
    return id;
  },

  async insert(token: typeof deployTokens.$inferInsert): Promise<DeployTokenRow> {
    return first(await db.orm.insert(deployTokens).values(token).returning());
  },

  /** Revokes a token; one that was revoked before keeps that time. @throws Problem not_found */
  async revoke(customerId: string, id: number): Promise<void> {
    const [revoked] = await db.orm
      .update(deployTokens)
      .set({ revokedAt: sql`coalesce(${deployTokens.revokedAt}, now())` })
      .where(and(sql`${deployTokens.id} = ${id}::bigint`, eq(deployTokens.customerId, customerId)))
      .returning({ id: deployTokens.id });
    found(revoked);
  },

  /**
   * Notes the minute of a use.
   * @returns what the maker is by now (null: no member); undefined where the token cannot be used, also because its maker
   * was removed
   */
  async use(customerId: string, tokenHash: string): Promise<{ makerRole: Role | null } | undefined> {
    const [row] = await db.rows<{ makerRole: Role | null }>(sql`
      with live as (
        select t.id, t.last_used_at, t.created_at, m.role as "makerRole" from deploy_tokens t
          cross join lateral (select person_behind(t.customer_id, t.created_by) as person) maker
          left join ${memberOf(sql`t.customer_id`, sql`maker.person`)} m on true
        where t.customer_id = ${customerId} and t.token_hash = ${tokenHash} and t.revoked_at is null
          and t.expires_at > now() and not ${wasRemoved(sql`t.customer_id`, sql`maker.person`)}
      ), touched as (
        update deploy_tokens t set last_used_at = greatest(date_trunc('minute', now()), t.created_at)
        from live where t.id = live.id and (t.last_used_at is null or t.last_used_at < date_trunc('minute', now()))
        returning t.id
      )
      select "makerRole" from live`);
    return row;
  },
});
