/**
 * Action links: whoever is mailed one can answer one wait, as it was when it was mailed, once. A token is random and signed,
 * so that what nobody was mailed is told without a look into the database, and kept as a digest. The answer goes through the
 * inbox, as everybody's does; money and what may not be done twice also take a code by mail.
 */
import { randomBytes } from 'node:crypto';
import { hmacSha256, safeEqual, secretsIn, sha256 } from '../../platform/core/crypto.ts';
import type { PageKeys } from '../../platform/core/page-keys.ts';
import { Problem } from '../../platform/core/problem.ts';
import { standingIn } from '../../platform/core/rights.ts';
import { withAudit, type AuditTrail } from '../../platform/http/audit.ts';
import type { Caller } from '../../platform/http/endpoint.ts';
import type { OtpDemand } from '../otp/model.ts';
import type { OtpService } from '../otp/service.ts';
import { answerWait, type AnswerRequest, type WaitDetailRow } from './contract.ts';
import type { InboxLinkRow, LinkStore, NewLink } from './link-store.ts';
import { LINK_PATH, LINK_TTL_MS, type Answer } from './model.ts';
import type { InboxService } from './service.ts';

export type ActionLinks = ReturnType<typeof createActionLinks>;

export interface ActionLinksOptions {
  store: LinkStore;
  inbox: Pick<InboxService, 'get' | 'answer'>;
  otp: Pick<OtpService, 'gate'>;
  audit: AuditTrail;
  /** It signs the tokens; older ones follow after commas. */
  secret: string;
  /** The recipient may answer, so that the page shows working addresses. */
  pageKeys: PageKeys;
  /** The public address of the gateway. */
  baseUrl: string;
}

/**
 * - `open`: it takes an answer
 * - `counted`: the recipient's answer was, and it waits for others
 * - `changed`: what it is about is not what it was when the link was mailed
 * - `settled`: it was answered, or closed
 */
export type LinkState = 'open' | 'counted' | 'changed' | 'settled';

export interface Linked {
  wait: WaitDetailRow;
  recipient: string;
  workspaceId: string;
  state: LinkState;
  /** The answer takes a code by mail as well. */
  needsCode: boolean;
}

export interface IssuedLink {
  token: string;
  /** The address to mail. */
  url: string;
}

export interface SaidByLink extends Pick<AnswerRequest, 'comment' | 'data' | 'raise_by_usd'> {
  answer: Answer;
  challengeId: string | undefined;
  code: string | undefined;
}

export const createActionLinks = ({ store, inbox, otp, audit, secret, pageKeys, baseUrl }: ActionLinksOptions) => {
  const secrets = secretsIn(secret);
  const signatureOf = (key: string, random: string): string => hmacSha256(key, `action-link.${random}`, 'base64url');

  async function find(token: string): Promise<InboxLinkRow | undefined> {
    const [random, signature, rest] = token.split('.');
    if (!random || !signature || rest !== undefined) return undefined;
    if (!secrets.some((key) => safeEqual(signature, signatureOf(key, random)))) return undefined;
    return store.find(sha256(token));
  }

  /** Has the rights of the recipient, as they are now. What takes an admin is about money, and the code stands for the stamp. */
  const callerOf = ({ workspaceId, customerId, recipient, role }: InboxLinkRow): Caller => ({
    workspaceId,
    customerId,
    actor: recipient,
    standing: standingIn(workspaceId, role ?? undefined, { isStamped: true }),
  });

  async function show(link: InboxLinkRow): Promise<Linked> {
    const wait = pageKeys.addIn(link.customerId, await inbox.get(callerOf(link), link.waitId));
    const { recipient, workspaceId } = link;
    return { wait, recipient, workspaceId, state: stateOf(link, wait), needsCode: needsCode(wait) };
  }

  return {
    /** @returns undefined where there is nothing to answer any more */
    async issue(link: NewLink): Promise<IssuedLink | undefined> {
      const random = randomBytes(24).toString('base64url');
      const token = `${random}.${signatureOf(secrets[0], random)}`;
      const isMade = await store.insert(link, sha256(token), LINK_TTL_MS);
      return isMade ? { token, url: `${baseUrl}${LINK_PATH}/${token}` } : undefined;
    },

    /** @returns what it leads to, while the link is good; reading it changes nothing */
    async read(token: string): Promise<Linked | undefined> {
      const link = await find(token);
      return link && show(link);
    },

    /**
     * @returns what there is now; undefined where the link is not good any more
     * @throws Problem of the inbox's answer, otp_required with the challenge to answer, otp_locked, otp_mail_limit
     */
    async answer(token: string, { challengeId, code, ...said }: SaidByLink): Promise<Linked | undefined> {
      const link = await find(token);
      if (!link) return undefined;
      const before = await show(link);
      if (before.state !== 'open') return before;
      const caller = callerOf(link);
      const body = { ...said, revision: link.revision };
      const confirmation = {
        operation: 'inbox.link',
        bodyHash: sha256(JSON.stringify([link.id, body])),
        challengeId,
        code,
        linkId: link.id,
      };
      const asked = {
        caller,
        confirmation,
        params: { wait_id: link.waitId },
        query: undefined,
        body: { ...body, via: 'link' },
      };
      await withAudit(audit, { endpoint: answerWait }, asked, async () => {
        // The code is used up before the answer is carried out, which asks Temporal: whoever is refused there gets another.
        if (before.needsCode)
          await otp.gate(caller, confirmation, `${said.answer}: ${before.wait.title}`, async () => {});
        return inbox.answer(caller, link.waitId, body, 'link');
      });
      await store.use(link);
      return show({ ...link, isUsed: true });
    },

    /** @throws Problem not_found */
    async withdraw(caller: Caller, waitId: string): Promise<void> {
      const { id } = await inbox.get(caller, waitId);
      await store.withdraw(caller.customerId, id);
    },
  };
};

function stateOf({ isUsed, revision }: InboxLinkRow, wait: WaitDetailRow): LinkState {
  if (wait.status === 'settled') return 'settled';
  if (wait.revision !== revision) return 'changed';
  return isUsed ? 'counted' : 'open';
}

/** What stopped a project is about money, or about what may not be done twice. */
const needsCode = ({ kind, policy }: WaitDetailRow): boolean =>
  kind === 'paused' || kind === 'lost_effect' || policy?.step_up === 'code';

/** @returns the challenge that a code was mailed for, where that is what is missing */
export const challengeIn = (error: unknown): { challengeId: string; delivery: string } | undefined => {
  if (!(error instanceof Problem) || error.code !== 'otp_required') return undefined;
  const { challenge_id: challengeId, delivery } = error.detail as OtpDemand;
  return { challengeId, delivery };
};
