/** What can be done with API keys: a session makes and revokes them, a request on the public surface shows one. */
import { sha256 } from '../../platform/core/crypto.ts';
import { API_KEY_PREFIX, newApiKey } from '../../platform/core/ids.ts';
import { Problem } from '../../platform/core/problem.ts';
import { apiKeyName } from '../../platform/core/actor.ts';
import { keyStanding } from '../../platform/core/rights.ts';
import type { Caller } from '../../platform/http/endpoint.ts';
import type { WorkspaceStore } from '../workspaces/store/index.ts';
import { prefixOf } from './model.ts';
import type { ApiKeyRow, ApiKeyStore } from './store.ts';

export type ApiKeyService = ReturnType<typeof createApiKeyService>;

interface Dependencies {
  store: ApiKeyStore;
  workspaces: Pick<WorkspaceStore, 'underCap'>;
  now?: () => Date;
}

export const createApiKeyService = ({ store, workspaces, now = () => new Date() }: Dependencies) => ({
  async list(customerId: string) {
    const rows = await store.list(customerId);
    return { data: rows.map(wireKey), meta: { total: rows.length } };
  },

  /** The reply is the only place where the secret ever is. @param madeBy whose rights bound those of the key */
  async create(customerId: string, { name }: { name: string }, madeBy: string | null = null) {
    const key = newApiKey();
    const row = await workspaces.underCap(
      customerId,
      'api_keys',
      () => store.countActive(customerId),
      () => store.insert({ customerId, name, keyHash: sha256(key), keyPrefix: prefixOf(key), madeBy }),
    );
    return { ...wireKey(row), key };
  },

  /** The one route that tells another workspace's id from an unknown one: `service.md` wants it so. */
  async revoke(customerId: string, id: number): Promise<void> {
    const outcome = await store.revoke(customerId, id);
    if (outcome === 'foreign') throw new Problem('not_your_key');
    if (outcome === 'unknown') throw new Problem('not_found');
  },

  /**
   * Who a secret speaks for.
   * @throws Problem invalid_api_key, api_key_revoked
   */
  async caller(secret: string): Promise<Caller> {
    if (!secret.startsWith(API_KEY_PREFIX)) throw new Problem('invalid_api_key');
    const check = await store.authenticate(secret);
    if (check.kind === 'unknown') throw new Problem('invalid_api_key');
    if (check.kind === 'revoked') throw new Problem('api_key_revoked');
    // Not awaited: when a key was last used is advisory and must neither delay nor fail a request.
    store.touch(check, now()).catch(() => {});
    return {
      workspaceId: check.workspaceId,
      customerId: check.customerId,
      actor: apiKeyName(check.id),
      standing: keyStanding(check.makerRole ?? undefined),
      isArchived: check.isArchived,
    };
  },
});

const wireKey = (row: ApiKeyRow) => ({
  id: row.id,
  customer_id: row.customerId,
  name: row.name,
  key_prefix: row.keyPrefix,
  created_at: row.createdAt,
  last_used_at: row.lastUsedAt,
  revoked_at: row.revokedAt,
  made_by: row.madeBy,
});
