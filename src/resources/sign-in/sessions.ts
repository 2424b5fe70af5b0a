/** Sessions from sign-in to sign-out. */
import { actorKey } from '../../platform/core/actor.ts';
import { sha256 } from '../../platform/core/crypto.ts';
import { present } from '../../platform/core/present.ts';
import { isOfPipeline, type Role } from '../../platform/core/rights.ts';
import {
  readSession,
  sessionCaller,
  signSession,
  type FindSession,
  type SessionClaims,
} from '../../platform/http/auth.ts';
import type { Membership } from '../members/store/index.ts';
import type { SignInStore } from './store.ts';

export interface SessionsOptions {
  store: Pick<SignInStore, 'endSession' | 'cutOff' | 'beginning' | 'find'>;
  /**
   * @returns undefined unless a pipeline's session, by its hash, is one that the workspace gave and did not take back; else
   * what its maker is by now
   */
  useDeployToken: (customerId: string, sessionHash: string) => Promise<{ makerRole: Role | null } | undefined>;
  secret: string;
  ttlMs: number;
}

export type Sessions = ReturnType<typeof createSessions>;

export function createSessions({ store, useDeployToken, secret, ttlMs }: SessionsOptions) {
  const find: FindSession = async (session, { customer_id: customerId, sub, email, role, iat }) => {
    const hash = sha256(session);
    const found = await store.find(hash, { customerId, sub, email, iat });
    if (found.isEnded || !isOfPipeline(role)) return found;
    const token = await useDeployToken(customerId, hash);
    return { ...found, isEnded: !token, makerRole: token?.makerRole ?? undefined };
  };

  /** @returns the claims of a session that counts */
  async function read(session: string | undefined): Promise<SessionClaims | undefined> {
    const claims = readSession(session, secret);
    return claims && !(await find(present(session), claims)).isEnded ? claims : undefined;
  }

  return {
    find,

    /** Returns Unix seconds at which a new session of this person in this workspace begins; they have a fraction. */
    beginning: (customerId: string, email: string): Promise<number> => store.beginning(customerId, email),

    sign(email: string, { workspaceId, customerId, role }: Membership, iat: number) {
      const claims: SessionClaims = {
        sub: email,
        email,
        workspace: workspaceId,
        customer_id: customerId,
        role,
        iat,
        exp: Math.floor(iat + ttlMs / 1_000),
      };
      return { session: signSession(claims, secret), claims };
    },

    read,

    /**
     * Ends this session, and with `everywhere` every other of the person in the workspace. A text that is no session
     * changes nothing.
     */
    async end(session: string | undefined, { everywhere }: { everywhere: boolean }): Promise<void> {
      const claims = await read(session);
      if (!claims) return;
      if (everywhere) await store.cutOff(claims.customer_id, actorKey(sessionCaller(claims).actor));
      await store.endSession(sha256(present(session)), new Date(claims.exp * 1_000));
    },
  };
}
