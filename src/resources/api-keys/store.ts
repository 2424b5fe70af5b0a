/**
 * Queries on API keys. Two of them take no workspace, because finding out whose key it is is their purpose:
 * `authenticate`, and the part of `revoke` that tells another workspace's key from none.
 */
import { and, eq, isNull, sql, type SQL } from 'drizzle-orm';
import { first } from '../../platform/core/present.ts';
import type { Role } from '../../platform/core/rights.ts';
import type { Database } from '../../platform/db/client.ts';
import { safeEqual, sha256 } from '../../platform/core/crypto.ts';
import { memberOf, wasRemoved } from '../members/store/fragments.ts';
import { openStatus } from '../workspaces/store/caps.ts';
import { workspaces } from '../workspaces/table.ts';
import { minuteOf } from './model.ts';
import { apiKeys } from './table.ts';

export type ApiKeyStore = ReturnType<typeof createApiKeyStore>;
export type ApiKeyRow = typeof apiKeys.$inferSelect;

interface ValidKey {
  kind: 'valid';
  id: number;
  workspaceId: string;
  customerId: string;
  /** The workspace is archived, or is being taken down. */
  isArchived: boolean;
  /** What the maker of the key is by now; null where that is not known, or the maker is no member. */
  makerRole: Role | null;
}
type KeyCheck = { kind: 'unknown' } | { kind: 'revoked' } | ValidKey;

/** Revokes the keys that a person made, in the transaction that removes the person. @param email in lower case */
export const revokeKeysMadeBy = (db: Database, customerId: string, email: string): Promise<unknown> =>
  db.rows(sql`
    update api_keys set revoked_at = now()
    where customer_id = ${customerId} and revoked_at is null and person_behind(customer_id, made_by) = ${email}`);

export const createApiKeyStore = (db: Database) => {
  // These keys were written in this minute already: all but the first request of a minute write nothing.
  let touchedAt = 0;
  const touched = new Set<number>();

  return {
    /**
     * @returns active keys first, then the newest first; a workspace has few, so they are sorted after the index has
     * found them
     */
    list: (customerId: string): Promise<ApiKeyRow[]> =>
      db.orm
        .select()
        .from(apiKeys)
        .where(eq(apiKeys.customerId, customerId))
        .orderBy(sql`${apiKeys.revokedAt} is not null`, sql`${apiKeys.id} desc`),

    /** Revoked keys do not count toward the cap. */
    countActive: async (customerId: string): Promise<number> =>
      db.orm.$count(apiKeys, and(eq(apiKeys.customerId, customerId), isNull(apiKeys.revokedAt))),

    async insert(
      key: Pick<typeof apiKeys.$inferInsert, 'customerId' | 'name' | 'keyHash' | 'keyPrefix' | 'madeBy'>,
    ): Promise<ApiKeyRow> {
      return first(await db.orm.insert(apiKeys).values(key).returning());
    },

    /** Revokes a key; one that was revoked before keeps that time. */
    async revoke(customerId: string, id: number): Promise<'revoked' | 'foreign' | 'unknown'> {
      // The id is compared as bigint, so that one beyond the column's range is an unknown id and no database error.
      const hasId = sql`${apiKeys.id} = ${id}::bigint`;
      const revoked = await db.orm
        .update(apiKeys)
        .set({ revokedAt: sql`coalesce(${apiKeys.revokedAt}, now())` })
        .where(and(hasId, eq(apiKeys.customerId, customerId)))
        .returning({ id: apiKeys.id });
      if (revoked.length > 0) return 'revoked';
      return (await db.orm.$count(apiKeys, hasId)) > 0 ? 'foreign' : 'unknown';
    },

    /**
     * A key whose maker was removed counts as revoked. It is one statement, as every public request waits for it.
     */
    async authenticate(secret: string): Promise<KeyCheck> {
      const hash = sha256(secret);
      const [row] = await db.rows<Omit<ValidKey, 'kind'> & { keyHash: string; isRevoked: boolean }>(sql`
        select k.id, k.key_hash as "keyHash", ${workspaces.identityWorkspaceId} as "workspaceId",
          k.customer_id as "customerId", ${openStatus} = 'archived' as "isArchived", m.role as "makerRole",
          k.revoked_at is not null or ${wasRemoved(sql`k.customer_id`, sql`maker.person`)} as "isRevoked"
        from api_keys k join workspaces on workspaces.customer_id = k.customer_id
          cross join lateral (select person_behind(k.customer_id, k.made_by) as person) maker
          left join ${memberOf(sql`k.customer_id`, sql`maker.person`)} m on true
        where k.key_hash = ${hash}`);
      if (!row || !safeEqual(row.keyHash, hash)) return { kind: 'unknown' };
      if (row.isRevoked) return { kind: 'revoked' };
      const { id, workspaceId, customerId, isArchived, makerRole } = row;
      return { kind: 'valid', id, workspaceId, customerId, isArchived, makerRole };
    },

    /** Notes the minute in which a key was used, once for each process. Never moves it back. */
    async touch({ id, customerId }: Pick<ValidKey, 'id' | 'customerId'>, now: Date): Promise<void> {
      const minute = minuteOf(now);
      if (minute.getTime() !== touchedAt) {
        touchedAt = minute.getTime();
        touched.clear();
      }
      if (touched.has(id)) return;
      touched.add(id);
      try {
        await db.orm
          .update(apiKeys)
          // A key that is used within the minute of its making was not used before it.
          .set({ lastUsedAt: sql`greatest(${minute.toISOString()}::timestamptz, ${apiKeys.createdAt})` })
          .where(
            and(
              eq(apiKeys.id, id),
              eq(apiKeys.customerId, customerId),
              sql`(${apiKeys.lastUsedAt} is null or ${apiKeys.lastUsedAt} < ${minute.toISOString()}::timestamptz)`,
            ),
          );
      } catch (error) {
        touched.delete(id);
        throw error;
      }
    },
  };
};

/** Whether the workspace has a key of this number, revoked or not. */
export async function isKey(db: Database, customerId: string, id: string): Promise<boolean> {
  const found = await db.rows(sql`
    select id from api_keys where customer_id = ${customerId} and id = ${id}::bigint`);
  return found.length > 0;
}

/** Counts the keys of a workspace that can be used, for a statement of others. */
export const usableKeys = (customerId: SQL): SQL =>
  sql`(select count(*)::int from api_keys k where k.customer_id = ${customerId} and k.revoked_at is null)`;

/** All keys of a workspace, with `id`, to be joined. */
export const keysOf = (customerId: SQL): SQL =>
  sql`lateral (select k.id from api_keys k where k.customer_id = ${customerId})`;
