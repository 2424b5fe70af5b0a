/**
 * Action links that answer nothing, by what is wrong with them: the rows of links in the matrices of credentials and tenants. Every
 * address that takes a token of its own is declared here, with its rows or with the test that has them.
 */
import { sql } from 'drizzle-orm';
import { hmacSha256, sha256 } from '../../../src/platform/core/crypto.ts';
import { present } from '../../../src/platform/core/present.ts';
import type { Role } from '../../../src/platform/core/rights.ts';
import { addMember } from '../../resources/sign-in/people.ts';
import { TEST_SECRETS, type Tenant, type TestService } from '../service/service.ts';

interface Seen {
  id: string;
  revision: number;
}

export interface Hands {
  service: TestService;
  /** Whose wait it is. */
  owner: Tenant;
  wait: Seen;
  /** Of another workspace. */
  other: Tenant;
  foreign: Seen;
}

/** @returns the token */
type Make = (hands: Hands) => Promise<string>;

export const ACT = '/act/{token}';
/** Where the wrong tokens of each address are tried: here, or in this test. */
export const TOKEN_ADDRESSES: Readonly<Record<string, typeof WRONG_LINKS | string>> = {
  get [ACT]() {
    return WRONG_LINKS;
  },
  '/login/link': 'resources/sign-in/attacks.test.ts',
  '/login/local': 'resources/sign-in/local-links.test.ts',
  '/miniapps/{token}': 'resources/miniapps/miniapps.test.ts',
  '/outputs/confirm': 'resources/output-destinations/recipients.test.ts',
};

let people = 0;
async function personOf({ service, owner }: Hands, role: Role): Promise<string> {
  const email = `linked-${++people}@acme.example`;
  await addMember(service, owner.caller.customerId, email, role);
  return email;
}
const leaves = ({ service }: Hands, email: string) =>
  service.runtime.db.rows(sql`delete from workspace_members where email = ${email}`);

export async function linkOf(
  { service, owner, wait }: Hands,
  recipient: string,
  of: Partial<Seen> = {},
): Promise<string> {
  const { id: waitId, revision } = { ...wait, ...of };
  const link = { customerId: owner.caller.customerId, waitId, revision, recipient };
  return present(await service.services.actionLinks.issue(link)).token;
}
const goodLink = async (hands: Hands): Promise<string> => linkOf(hands, await personOf(hands, 'member'));
const changedLink = async (hands: Hands, change: ReturnType<typeof sql>): Promise<string> => {
  const token = await goodLink(hands);
  await hands.service.runtime.db.rows(sql`update action_links set ${change} where token_hash = ${sha256(token)}`);
  return token;
};
const altered =
  (change: (random: string, signature: string, token: string) => string): Make =>
  async (hands) => {
    const token = await goodLink(hands);
    const [random = '', signature = ''] = token.split('.');
    return change(random, signature, token);
  };
const other = (text: string): string => (text.startsWith('A') ? 'B' : 'A') + text.slice(1);
const signed = (secret: string, random: string): string =>
  `${random}.${hmacSha256(secret, `action-link.${random}`, 'base64url')}`;
const NEVER_MAILED = 'a'.repeat(32);

/** Each is answered as one that never was, and changes nothing. */
export const WRONG_LINKS: Readonly<Record<string, Make>> = {
  // It withdraws every link of its wait, and so comes first.
  async 'withdrawn by hand'(hands) {
    const token = await goodLink(hands);
    await hands.owner.cp('DELETE', `/v1/inbox/${hands.wait.id}/links`);
    return token;
  },
  'without a signature': altered((random) => random),
  'with an empty signature': altered((random) => `${random}.`),
  'with another signature': altered((random, signature) => `${random}.${other(signature)}`),
  'with another random part': altered((random, signature) => `${other(random)}.${signature}`),
  'with something after it': altered((_random, _signature, token) => `${token}.x`),
  'that is cut off': altered((_random, _signature, token) => token.slice(0, -1)),
  'in upper case': altered((_random, _signature, token) => token.toUpperCase()),
  'that is what is kept of one': altered((_random, _signature, token) => sha256(token)),
  'signed with another secret': altered((random) => signed(TEST_SECRETS.ADMIN_SECRET, random)),
  'signed rightly, and never mailed': async () => signed(TEST_SECRETS.SESSION_SECRET, NEVER_MAILED),
  'that is a session': async ({ owner }) => owner.session,
  'that is an API key': async ({ owner }) => owner.apiKey,
  expired: (hands) => changedLink(hands, sql`expires_at = now()`),
  async 'of a removed member'(hands) {
    const email = await personOf(hands, 'member');
    const token = await linkOf(hands, email);
    await leaves(hands, email);
    return token;
  },
  async 'of a removed member who came back'(hands) {
    const email = await personOf(hands, 'member');
    const token = await linkOf(hands, email);
    await leaves(hands, email);
    await addMember(hands.service, hands.owner.caller.customerId, email, 'member');
    return token;
  },
  'of a member who only looks': async (hands) => linkOf(hands, await personOf(hands, 'viewer')),
  'of nobody there': (hands) => linkOf(hands, 'nobody@acme.example'),
  async 'of a member of another workspace'(hands) {
    const email = `linked-${++people}@acme.example`;
    await addMember(hands.service, hands.other.caller.customerId, email, 'owner');
    return linkOf(hands, email);
  },
  // No such row is ever written: what is asked of it is that both agree.
  "to another workspace's wait": (hands) => changedLink(hands, sql`wait_id = ${hands.foreign.id}::uuid`),
  "of another workspace's": (hands) => changedLink(hands, sql`customer_id = ${hands.other.caller.customerId}`),
};

/** Each shows what became of its wait, and answers nothing. */
export const SPENT_LINKS: Readonly<Record<string, Make>> = {
  used: (hands) => changedLink(hands, sql`used_at = now()`),
  'of another revision': async (hands) =>
    linkOf(hands, await personOf(hands, 'member'), { revision: hands.wait.revision + 1 }),
};
