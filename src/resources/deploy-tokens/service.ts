/** What can be done with deploy tokens: owners and admins make and revoke them, pipelines show one in the place of a session. */
import { deployTokenName } from '../../platform/core/actor.ts';
import { sha256 } from '../../platform/core/crypto.ts';
import { Problem } from '../../platform/core/problem.ts';
import { DEPLOYER } from '../../platform/core/rights.ts';
import { signSession } from '../../platform/http/auth.ts';
import type { Caller } from '../../platform/http/endpoint.ts';
import type { WorkspaceStore } from '../workspaces/store/index.ts';
import type { NewDeployToken } from './contract.ts';
import { MAX_LIVE } from './model.ts';
import type { DeployTokenRow, DeployTokenStore } from './store.ts';

export type DeployTokenService = ReturnType<typeof createDeployTokenService>;

interface Dependencies {
  store: DeployTokenStore;
  workspaces: Pick<WorkspaceStore, 'whileOpen'>;
  /** Returns Unix seconds at which a new session of the pipeline begins, after every cut-off. */
  beginning: (customerId: string, sub: string) => Promise<number>;
  /** It signs sessions. */
  secret: string;
}

const DAY_S = 86_400;

export const createDeployTokenService = ({ store, workspaces, beginning, secret }: Dependencies) => ({
  async list(customerId: string) {
    const rows = await store.list(customerId);
    return { data: rows.map(wire), meta: { total: rows.length } };
  },

  /** @throws Problem too_many_tokens, workspace_archived */
  async create({ customerId, workspaceId, actor }: Caller, { name, expires_in_days: days }: NewDeployToken) {
    return workspaces.whileOpen(customerId, async () => {
      if ((await store.countLive(customerId)) >= MAX_LIVE) {
        throw new Problem('too_many_tokens', `${MAX_LIVE} deploy tokens can be used already: revoke one`);
      }
      const id = await store.nextId();
      const sub = deployTokenName(id);
      const iat = await beginning(customerId, sub);
      const exp = Math.floor(iat) + days * DAY_S;
      const claims = { sub, email: '', workspace: workspaceId, customer_id: customerId };
      const token = signSession({ ...claims, role: DEPLOYER, iat, exp }, secret);
      const row = await store.insert({
        id,
        customerId,
        name,
        createdBy: actor,
        tokenHash: sha256(token),
        expiresAt: new Date(exp * 1_000),
      });
      return { ...wire({ ...row, isLive: true }), token };
    });
  },

  /** @throws Problem not_found */
  revoke: (customerId: string, id: number): Promise<void> => store.revoke(customerId, id),
});

const wire = (row: DeployTokenRow & { isLive: boolean }) => ({
  id: row.id,
  name: row.name,
  actor: deployTokenName(row.id),
  created_by: row.createdBy,
  created_at: row.createdAt,
  expires_at: row.expiresAt,
  last_used_at: row.lastUsedAt,
  revoked_at: row.revokedAt,
  state: row.revokedAt ? ('revoked' as const) : row.isLive ? ('active' as const) : ('expired' as const),
});
