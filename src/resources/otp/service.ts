/**
 * The OTP gate: what a person confirms with a code by mail. The first request is answered with a challenge; the same
 * request with the challenge and its code goes through, once.
 *
 * A challenge is recorded before its code is mailed, so that it counts; it is taken back where the mail fails.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { hmacSha256, secretsIn } from '../../platform/core/crypto.ts';
import { Problem } from '../../platform/core/problem.ts';
import type { Caller, Confirmation } from '../../platform/http/endpoint.ts';
import type { Mailer } from '../../platform/mail/mailer.ts';
import { holderOf, type OtpDemand } from './model.ts';
import type { Opening, OtpStore } from './store.ts';

export interface OtpOptions {
  store: OtpStore;
  mailer: Mailer;
  /** It keys the HMACs of codes. Older ones follow after commas, by which codes under way still count. */
  secret: string;
  /** The operator's inbox; without one a code goes to whoever asks for it. */
  inbox: string | undefined;
  /** Codes that a workspace may have mailed to one recipient. */
  mailsPerHour: number;
}

export type OtpService = ReturnType<typeof createOtpService>;

export function createOtpService({ store, mailer, secret, inbox, mailsPerHour }: OtpOptions) {
  const keys = secretsIn(secret);
  /** The HMAC that is kept of a request: the request may contain a secret that a plain digest would let one guess. */
  const keptOfBody = (key: string, bodyHash: string): string => hmacSha256(key, `otp.body.${bodyHash}`);
  /** The HMAC that is kept of a code. */
  const keptOf = (key: string, id: string, code: string): string => hmacSha256(key, `otp.${id}.${code}`);

  const demandOf = (caller: Caller, id: string, scope: string, expiresAt: Date): OtpDemand => ({
    otp_required: true,
    challenge_id: id,
    scope,
    expires_at: expiresAt.getTime() / 1_000,
    delivery: mailer.delivery(inbox ?? caller.actor),
  });

  async function challenge(caller: Caller, confirmation: Confirmation, scope: string): Promise<OtpDemand> {
    const { customerId, actor } = caller;
    const { operation } = confirmation;
    const id = randomBytes(12).toString('base64url');
    const code = String(randomInt(1_000_000)).padStart(6, '0');
    const recipient = inbox ?? actor;
    const bodyHash = keptOfBody(keys[0], confirmation.bodyHash);
    const holder = holderOf(actor, confirmation.linkId);
    const row = { id, customerId, holder, operation, scope, bodyHash, codeHmac: keptOf(keys[0], id, code) };
    const expiresAt = openedUntil(await store.open({ ...row, recipient: recipient.toLowerCase() }, mailsPerHour));
    const mail = {
      to: recipient,
      subject: `Confirmation code for ${scope}`,
      text: `${actor} wants to do this in the workspace ${customerId}: ${scope}\n\nCode: ${code}\n\nIt is valid for ten minutes and for this request only.`,
      code: { challenge_id: id, code },
    };
    await mailer.send(mail).catch(async (error: unknown) => {
      await store.withdraw(customerId, id);
      throw error;
    });
    return demandOf(caller, id, scope, expiresAt);
  }

  return {
    /**
     * Runs `write` if the request shows a challenge of this caller, operation, scope and body with its code. What
     * `write` throws rolls back both it and the use of the challenge. Whatever else can be wrong with the request is
     * to be found before: nobody is to confirm what cannot be done.
     * @throws Problem otp_required with the challenge to answer, otp_locked, otp_mail_limit, mail_failed
     */
    async gate<T>(caller: Caller, confirmation: Confirmation, scope: string, write: () => Promise<T>): Promise<T> {
      const { customerId, actor } = caller;
      const { challengeId: id, code, operation, linkId } = confirmation;
      if (id && code && isStorable(id)) {
        const kept = keys.map((key) => ({
          bodyHash: keptOfBody(key, confirmation.bodyHash),
          codeHmac: keptOf(key, id, code),
        }));
        const holder = holderOf(actor, linkId);
        const answer = { customerId, holder, id, operation, scope, kept };
        const verdict = await store.answer(answer, write);
        if (verdict.kind === 'right') return verdict.value;
        if (verdict.kind === 'locked') throw lockedUntil(verdict.until);
        if (verdict.kind === 'wrong') throw new Problem('otp_required', demandOf(caller, id, scope, verdict.expiresAt));
      }
      throw new Problem('otp_required', await challenge(caller, confirmation, scope));
    },
  };
}

const lockedUntil = (until: Date): Problem =>
  new Problem(
    'otp_locked',
    `otp_locked: too many wrong codes; confirmations are possible again at ${until.toISOString()}`,
  );

/** @throws Problem otp_locked, otp_mail_limit */
function openedUntil(opening: Opening): Date {
  if (opening.kind === 'locked') throw lockedUntil(opening.until);
  if (opening.kind === 'full') {
    const until = opening.until.toISOString();
    throw new Problem(
      'otp_mail_limit',
      `otp_mail_limit: too many codes were asked for; the next is mailed at ${until}`,
    );
  }
  return opening.expiresAt;
}

/** Headers are Latin-1 at most; a text with anything but the alphabet of a challenge names none. */
const isStorable = (id: string): boolean => /^[\w-]{16}$/.test(id);
