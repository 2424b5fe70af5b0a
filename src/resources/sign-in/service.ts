/** Leads from an address that somebody has shown to be theirs to a session of a workspace that it is a member of. */
import { Problem } from '../../platform/core/problem.ts';
import { isOwner, type Role } from '../../platform/core/rights.ts';
import type { SessionClaims } from '../../platform/http/auth.ts';
import type { Membership, MemberStore } from '../members/store/index.ts';
import type { Codes } from './codes.ts';
import type { LocalLinks } from './local-links.ts';
import type { Oidc } from './oidc.ts';
import type { Sessions } from './sessions.ts';

export interface SignInOptions {
  codes: Codes;
  /** Set where an identity provider takes the place of codes. */
  oidc: Oidc | undefined;
  localLinks: LocalLinks;
  sessions: Sessions;
  members: Pick<MemberStore, 'membershipsOf' | 'noteLogin' | 'takeRole'>;
  /** Writes into the audit log that a member has become what the identity provider says. */
  noteRole(change: { customerId: string; email: string; role: Role }): Promise<unknown>;
  /** It signs what the browser keeps between steps. */
  secret: string;
  /** No mail server is set: codes are lines of the log. */
  isMailLogged: boolean;
}

export type SignInService = ReturnType<typeof createSignIn>;

interface Entrance {
  workspace?: string | undefined;
  role?: Role | null | undefined;
}

export type SignInOutcome =
  | { kind: 'signed-in'; session: string; claims: SessionClaims }
  | { kind: 'choose'; memberships: readonly Membership[] };

export const createSignIn = ({
  codes,
  oidc,
  localLinks,
  sessions,
  members,
  noteRole,
  secret,
  isMailLogged,
}: SignInOptions) => ({
  codes,
  oidc,
  localLinks,
  sessions,
  secret,
  isMailLogged,

  /**
   * @param workspace the one that is wanted, which is needed where there are several
   * @param role what an identity provider says that the person is: who is no owner becomes it, and without one (null)
   * enters only what is their own
   * @throws Problem no_membership
   */
  async enter(email: string, { workspace, role: given }: Entrance = {}): Promise<SignInOutcome> {
    const all = await members.membershipsOf(email);
    const memberships = given === null ? all.filter(({ role }) => isOwner(role)) : all;
    if (memberships.length === 0) throw new Problem('no_membership');
    const wanted = memberships.filter(({ workspaceId }) => workspace === undefined || workspaceId === workspace);
    const [chosen] = wanted;
    if (!chosen || wanted.length > 1) return { kind: 'choose', memberships };
    if (given) {
      const { customerId } = chosen;
      await members.takeRole(customerId, email, given, () => noteRole({ customerId, email, role: given }));
    }
    // The session begins before the last look at the member: whoever changes or removes it after that cuts it off.
    const iat = await sessions.beginning(chosen.customerId, email);
    const role = await members.noteLogin(chosen.customerId, email);
    if (!role) throw new Problem('no_membership');
    return { kind: 'signed-in', ...sessions.sign(email, { ...chosen, role }, iat) };
  },
});
