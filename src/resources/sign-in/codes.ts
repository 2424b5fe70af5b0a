/**
 * Sign-in by mail: a code for the browser that asked, and a link for whoever has the mail. An address that nobody knows
 * gets the answers that a known one gets, and as fast: its code is made and kept too, and only never mailed.
 *
 * Anybody may ask for mails to an address, so asking must not be able to keep its owner out. Once an address has been
 * sent what it may be, the links that it was sent are still good; and only who has asked can guess at the code.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { hmacSha256, safeEqual, secretsIn } from '../../platform/core/crypto.ts';
import type { Log } from '../../platform/core/log.ts';
import { Problem } from '../../platform/core/problem.ts';
import type { Mailer } from '../../platform/mail/mailer.ts';
import type { SignInStore } from './store.ts';

export interface CodesOptions {
  store: Pick<SignInStore, 'insertChallenge' | 'withdraw' | 'answer' | 'findByLink' | 'useLink'>;
  isMember: (email: string) => Promise<boolean>;
  mailer: Mailer;
  /** It keys the HMACs of codes and links; older ones may follow after commas. */
  secret: string;
  /** The public address of the gateway by the settings, because that of a request is what its sender says. */
  baseUrl: string;
  log: Log;
}

export type Codes = ReturnType<typeof createCodes>;

export function createCodes({ store, isMember, mailer, secret, baseUrl, log }: CodesOptions) {
  const secrets = secretsIn(secret);
  /** The HMAC is all that is kept of a code. */
  const keptOf = (key: string, id: string, code: string): string => hmacSha256(key, `sign-in.${id}.${code}`);
  /** A link is verified by its signature, so nothing of it is kept. */
  const signatureOf = (key: string, id: string): string => hmacSha256(key, `sign-in.link.${id}`, 'base64url');

  /** @returns the challenge of a link of this deployment */
  function challengeIn(token: string): string | undefined {
    const [, id, signed] = /^([\w-]{16})\.([\w-]{43})$/.exec(token) ?? [];
    if (!id || !signed) return undefined;
    return secrets.some((key) => safeEqual(signed, signatureOf(key, id))) ? id : undefined;
  }

  async function mail(email: string, id: string, code: string): Promise<void> {
    if (!(await isMember(email))) return;
    const link = `${baseUrl}/login/link?token=${id}.${signatureOf(secrets[0], id)}`;
    await mailer.send({
      to: email,
      subject: 'Your sign-in code',
      text: [
        `Code: ${code}`,
        'It is valid for ten minutes, for one sign-in, and where it was asked for.',
        `Or sign in anywhere by this link, once within the hour: ${link}`,
        'If you did not ask for it, do nothing.',
      ].join('\n\n'),
      code: { challenge_id: id, code },
    });
  }

  return {
    /**
     * @param known says that the address has signed in with the browser that asks
     * @returns the id of a challenge, whatever became of the mail
     */
    async request(email: string, { known }: { known: boolean }): Promise<string> {
      const id = randomBytes(12).toString('base64url');
      const code = String(randomInt(1_000_000)).padStart(6, '0');
      const codeHmac = keptOf(secrets[0], id, code);
      if (await store.insertChallenge({ id, email, codeHmac, known })) {
        // The mail is not awaited, because how long it takes would tell whether the address is known.
        mail(email, id, code)
          .catch(async (err: unknown) => {
            log.warn({ err }, 'a sign-in code was not mailed');
            await store.withdraw(id);
          })
          .catch((err: unknown) =>
            log.warn({ err }, 'a sign-in code that was not mailed still counts against the limit of mails for an hour'),
          );
      }
      return id;
    },

    /**
     * @returns the address that the code was sent to
     * @throws Problem invalid_code
     */
    async verify(id: string, code: string): Promise<string> {
      const isWellFormed = /^[\w-]{16}$/.test(id) && /^\d{6}$/.test(code);
      const codeHmacs = secrets.map((key) => keptOf(key, id, code));
      return valid(isWellFormed ? await store.answer({ id, codeHmacs }) : undefined);
    },

    /** @returns the address that a link was sent to; the link can still be used @throws Problem invalid_code */
    async readLink(token: string): Promise<string> {
      const id = challengeIn(token);
      return valid(id && (await store.findByLink(id)));
    },

    /** Does the same and uses the link up. @throws Problem invalid_code */
    async useLink(token: string): Promise<string> {
      const id = challengeIn(token);
      return valid(id && (await store.useLink(id)));
    },
  };
}

/** @throws Problem invalid_code */
function valid(email: string | undefined): string {
  if (email === undefined) throw new Problem('invalid_code');
  return email;
}
