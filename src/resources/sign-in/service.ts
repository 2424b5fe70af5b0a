/** Leads from an address that somebody has shown to be theirs to a session of a workspace that it is a member of. */
import { Problem } from '../../platform/core/problem.ts';
import type { SessionClaims } from '../../platform/http/auth.ts';
import type { Membership, MemberStore } from '../members/store.ts';
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
  members: Pick<MemberStore, 'membershipsOf' | 'noteLogin'>;
  /** It signs what the browser keeps between steps. */
  secret: string;
  /** No mail server is set: codes are lines of the log. */
  isMailLogged: boolean;
}

export type SignInService = ReturnType<typeof createSignIn>;

export type SignInOutcome =
  | { kind: 'signed-in'; session: string; claims: SessionClaims }
  | { kind: 'choose'; memberships: readonly Membership[] };

export const createSignIn = ({ codes, oidc, localLinks, sessions, members, secret, isMailLogged }: SignInOptions) => ({
  codes,
  oidc,
  localLinks,
  sessions,
  secret,
  isMailLogged,

  /** @param workspace the one that is wanted, which is needed where there are several @throws Problem no_membership */
  async enter(email: string, workspace?: string): Promise<SignInOutcome> {
    const memberships = await members.membershipsOf(email);
    if (memberships.length === 0) throw new Problem('no_membership');
    const wanted = memberships.filter(({ workspaceId }) => workspace === undefined || workspaceId === workspace);
    const [chosen] = wanted;
    if (!chosen || wanted.length > 1) return { kind: 'choose', memberships };
    // The session begins before the last look at the member: whoever changes or removes it after that cuts it off.
    const iat = await sessions.beginning(chosen.customerId, email);
    const role = await members.noteLogin(chosen.customerId, email);
    if (!role) throw new Problem('no_membership');
    return { kind: 'signed-in', ...sessions.sign(email, { ...chosen, role }, iat) };
  },
});
