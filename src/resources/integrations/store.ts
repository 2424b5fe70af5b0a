/**
 * Queries on what workspaces gave to integrations. Values are sealed: whoever opens one names the row it belongs to, so
 * that a ciphertext copied to another row does not open.
 */
import { and, asc, eq, sql, type SQL } from 'drizzle-orm';
import type { Database } from '../../platform/db/client.ts';
import { insertLogEvent } from '../event-log/store/write.ts';
import { knownWorkspaces } from '../workspaces/store/fragments.ts';
import { SHARED, type HealthStatus } from './model.ts';
import { integrationCredentials as credentials, integrationSecrets as secrets } from './table.ts';

export type IntegrationStore = ReturnType<typeof createIntegrationStore>;

export interface TokenKey {
  customerId: string;
  slug: string;
  kind: string;
  scope: string;
}
export interface SecretKey {
  customerId: string;
  slug: string;
  dotted: string;
}

/** @returns the owner that a token is sealed for */
export const tokenOwner = ({ customerId, slug, kind, scope }: TokenKey): string =>
  `${customerId}/integration_credentials/${slug}/${kind}/${scope}`;
export const secretOwner = ({ customerId, slug, dotted }: SecretKey): string =>
  `${customerId}/integration_secrets/${slug}/${dotted}`;

export interface SealedToken extends TokenKey {
  tokenId: string;
  sealed: string;
}
/** A token whose holder is to check it. Its next check is put off until then. */
export type TokenToCheck = SealedToken & { checkAt: Date };

/** One value that an integration uses: a shared token by its kind, or a secret by its `section.key`. */
export interface SealedValue {
  slug: string;
  isToken: boolean;
  key: string;
  sealed: string;
}

const isToken = ({ customerId, slug, kind, scope }: TokenKey) =>
  and(
    eq(credentials.customerId, customerId),
    eq(credentials.slug, slug),
    eq(credentials.kind, kind),
    eq(credentials.scope, scope),
  );
const isSecret = ({ customerId, slug, dotted }: SecretKey) =>
  and(eq(secrets.customerId, customerId), eq(secrets.slug, slug), eq(secrets.dotted, dotted));

const TOKEN_TO_CHECK = {
  customerId: credentials.customerId,
  slug: credentials.slug,
  kind: credentials.kind,
  scope: credentials.scope,
  tokenId: credentials.tokenId,
  sealed: credentials.sealed,
  checkAt: credentials.checkAt,
};

/** The time is as exact as a Date, so that it can be compared with what was read of it. */
const inMs = (ms: number): SQL => sql`date_trunc('milliseconds', now()) + ${ms} * interval '1 ms'`;

export const createIntegrationStore = (db: Database) => ({
  /** Lists everything but the values. */
  async listGiven(customerId: string) {
    const tokens = await db.orm
      .select({
        slug: credentials.slug,
        kind: credentials.kind,
        scope: credentials.scope,
        tokenId: credentials.tokenId,
        health: credentials.health,
        checkedAt: credentials.checkedAt,
        createdAt: credentials.createdAt,
        updatedAt: credentials.updatedAt,
      })
      .from(credentials)
      .where(eq(credentials.customerId, customerId))
      .orderBy(asc(credentials.slug), asc(credentials.kind), asc(credentials.scope));
    const dotted = await db.orm
      .select({ slug: secrets.slug, dotted: secrets.dotted })
      .from(secrets)
      .where(eq(secrets.customerId, customerId));
    return { tokens, secrets: dotted };
  },

  /** Lists what the integrations use at work, in one statement. */
  listSealed: (customerId: string, slugs: readonly string[]): Promise<SealedValue[]> =>
    db.rows<SealedValue>(sql`
      select slug, true as "isToken", kind as key, sealed from ${credentials}
      where customer_id = ${customerId} and slug = any(${sql.param(slugs)}::text[]) and scope = ${SHARED}
      union all
      select slug, false, dotted, sealed from ${secrets}
      where customer_id = ${customerId} and slug = any(${sql.param(slugs)}::text[])`),

  /**
   * Lists the secrets of an integration beside a token, all as of one moment. Two statements could pair the token with
   * an address that was set after the token had been replaced.
   * @returns undefined if the token was replaced or deleted meanwhile
   */
  async listSecretsBeside({ tokenId, customerId, slug }: SealedToken): Promise<SealedValue[] | undefined> {
    const rows = await db.rows<{ dotted: string | null; sealed: string | null }>(sql`
      select s.dotted, s.sealed from ${credentials} c
      left join ${secrets} s on s.customer_id = c.customer_id and s.slug = c.slug
      where c.customer_id = ${customerId} and c.slug = ${slug} and c.token_id = ${tokenId}`);
    if (rows.length === 0) return undefined;
    return rows.flatMap(({ dotted, sealed }) =>
      dotted === null || sealed === null ? [] : [{ slug, isToken: false, key: dotted, sealed }],
    );
  },

  /** Serializes writes to one integration, so that no token is given while its address changes. */
  writeAlone: <T>(customerId: string, slug: string, write: () => Promise<T>): Promise<T> =>
    db.transaction(async () => {
      await db.rows(sql`select pg_advisory_xact_lock(hashtextextended(${`integration:${customerId}/${slug}`}, 0))`);
      return write();
    }),

  async isWorkspace(customerId: string): Promise<boolean> {
    return (await knownWorkspaces(db, [customerId])).length > 0;
  },

  hasToken: async (key: TokenKey): Promise<boolean> => (await db.orm.$count(credentials, isToken(key))) > 0,
  hasSecret: async (key: SecretKey): Promise<boolean> => (await db.orm.$count(secrets, isSecret(key))) > 0,

  /** A new value is another token: what a check under way finds out about the old one does not count for it. */
  async putToken(token: SealedToken): Promise<void> {
    const { tokenId, sealed } = token;
    const now = sql`now()`;
    const asNew = { health: 'unchecked' as const, checkedAt: null, checkAt: now, updatedAt: now };
    await db.orm
      .insert(credentials)
      .values(token)
      .onConflictDoUpdate({
        target: [credentials.customerId, credentials.slug, credentials.kind, credentials.scope],
        set: { tokenId, sealed, ...asNew },
      });
  },

  /** @returns whether the token existed */
  async deleteToken(key: TokenKey): Promise<boolean> {
    return (await db.orm.delete(credentials).where(isToken(key)).returning({ slug: credentials.slug })).length > 0;
  },

  async putSecret(secret: SecretKey & { sealed: string }): Promise<void> {
    await db.orm
      .insert(secrets)
      .values(secret)
      .onConflictDoUpdate({
        target: [secrets.customerId, secrets.slug, secrets.dotted],
        set: { sealed: secret.sealed, updatedAt: sql`now()` },
      });
  },

  /** @returns whether the secret existed */
  async deleteSecret(key: SecretKey): Promise<boolean> {
    return (await db.orm.delete(secrets).where(isSecret(key)).returning({ slug: secrets.slug })).length > 0;
  },

  /** Makes the tokens of one integration due for a check now, because what they are used with has changed. */
  async recheck(customerId: string, slug: string): Promise<string[]> {
    const rows = await db.orm
      .update(credentials)
      .set({ health: 'unchecked', checkedAt: null, checkAt: sql`now()` })
      .where(and(eq(credentials.customerId, customerId), eq(credentials.slug, slug)))
      .returning({ tokenId: credentials.tokenId });
    return rows.map(({ tokenId }) => tokenId);
  },

  /**
   * Takes what is due in all workspaces, or the one token that was just given. Each is put off first: nobody else takes
   * it, and where this worker dies it is taken again.
   */
  claimDue({ tokenId, limit, againMs }: { tokenId?: string; limit: number; againMs: number }): Promise<TokenToCheck[]> {
    // Each workspace has its turn: the many tokens of one, at a slow provider, do not hold up those of the others.
    const due = sql`(
      select c.token_id from integration_credentials c join (
        select token_id, check_at, row_number() over (partition by customer_id order by check_at) as turn
        from integration_credentials
        where check_at <= now() ${tokenId ? sql`and token_id = ${tokenId}` : sql``}
        order by turn, check_at limit ${limit}
      ) next using (token_id)
      where c.check_at <= now() for update of c skip locked)`;
    return db.orm
      .update(credentials)
      .set({ checkAt: inMs(againMs) })
      .where(sql`${credentials.tokenId} in ${due}`)
      .returning(TOKEN_TO_CHECK);
  },

  /** Whoever follows the workspace hears of a change. Nothing, where the token was replaced or deleted meanwhile, or is to be asked about anew. */
  async recordHealth({ tokenId, checkAt }: TokenToCheck, health: HealthStatus, nextMs: number): Promise<void> {
    await db.rows(sql`
      with before as (
        select customer_id, slug, kind, scope, token_id, health from integration_credentials
        where token_id = ${tokenId} and check_at = ${checkAt.toISOString()}::timestamptz for update
      ), recorded as (
        update integration_credentials c set health = ${health}, checked_at = now(), check_at = ${inMs(nextMs)}
        from before b where c.token_id = b.token_id and c.customer_id = b.customer_id
      ) ${insertLogEvent(sql`(select * from before where health is distinct from ${health})`, {
        kind: 'integration',
        topic: health,
        subject: sql`guard.slug`,
        customerId: sql`guard.customer_id`,
        payload: sql`jsonb_build_object('kind', guard.kind, 'scope', guard.scope, 'before', guard.health)`,
      })}`);
  },
});

/** Makes the next check of credentials, within a minute, ask about all of them. */
export async function recheckCredentials(db: Database, customerId: string): Promise<void> {
  await db.rows(sql`update integration_credentials set check_at = now() where customer_id = ${customerId}`);
}

/** Whether a workspace gave credentials or secrets of one of these integrations, for a statement of others. @param slugs stands after `=` */
export const hasCredentials = (customerId: SQL, slugs: SQL): SQL => sql`(
  exists (select 1 from integration_credentials c where c.customer_id = ${customerId} and c.slug = ${slugs})
  or exists (select 1 from integration_secrets s where s.customer_id = ${customerId} and s.slug = ${slugs}))`;
