/**
 * Sign-in by mailed code. An address that nobody knows gets the answers that a known one gets, and as fast: its code is
 * made and kept too, and only never mailed.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { hmacSha256, secretsIn } from '../../platform/core/crypto.ts';
import type { Log } from '../../platform/core/log.ts';
import { Problem } from '../../platform/core/problem.ts';
import type { Mailer } from '../../platform/mail/mailer.ts';
import { CHALLENGE_TTL_MS } from './model.ts';
import type { SignInStore } from './store.ts';

export interface CodesOptions {
  store: Pick<SignInStore, 'insertChallenge' | 'answer'>;
  isMember: (email: string) => Promise<boolean>;
  mailer: Mailer;
  /** Keys the HMACs of codes; may have older ones after commas. */
  secret: string;
  log: Log;
}

export type Codes = ReturnType<typeof createCodes>;

export function createCodes({ store, isMember, mailer, secret, log }: CodesOptions) {
  const secrets = secretsIn(secret);
  /** All that is kept of a code. */
  const keptOf = (key: string, id: string, code: string): string => hmacSha256(key, `sign-in.${id}.${code}`);

  async function mail(email: string, id: string, code: string): Promise<void> {
    if (!(await isMember(email))) return;
    await mailer.send({
      to: email,
      subject: 'Your sign-in code',
      text: `Code: ${code}\n\nIt is valid for ten minutes and for one sign-in. If you did not ask for it, do nothing.`,
      code: { challenge_id: id, code },
    });
  }

  return {
    /** @returns the id of a challenge, whatever became of the mail */
    async request(email: string): Promise<string> {
      const id = randomBytes(12).toString('base64url');
      const code = String(randomInt(1_000_000)).padStart(6, '0');
      const expiresAt = new Date(Date.now() + CHALLENGE_TTL_MS);
      const isKept = await store.insertChallenge({ id, email, codeHmac: keptOf(secrets[0], id, code), expiresAt });
      // Not awaited: how long it takes would tell whether the address is known.
      if (isKept) mail(email, id, code).catch((err: unknown) => log.warn({ err }, 'a sign-in code was not mailed'));
      return id;
    },

    /**
     * @returns the address that the code was sent to
     * @throws Problem invalid_code
     */
    async verify(id: string, code: string): Promise<string> {
      const isWellFormed = /^[\w-]{16}$/.test(id) && /^\d{6}$/.test(code);
      const codeHmacs = secrets.map((key) => keptOf(key, id, code));
      const email = isWellFormed ? await store.answer({ id, codeHmacs }) : undefined;
      if (email === undefined) throw new Problem('invalid_code');
      return email;
    },
  };
}
