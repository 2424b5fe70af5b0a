/**
 * A token that a browser keeps from a sign-in, long after the session: it says that this address was signed in with
 * here, and opens nothing. Mails that such a browser asks for are counted apart from those that anybody can ask for.
 */
import { hmacSha256, safeEqual, secretsIn } from '../../platform/core/crypto.ts';
import { KNOWN_TTL_MS } from './model.ts';

const signature = (key: string, email: string, exp: number): string =>
  hmacSha256(key, `sign-in.known.${exp}.${email}`, 'base64url');

/** @param secret older ones, which still verify, may follow after commas */
export const createKnown = (secret: string) => ({
  /** The token does not show the address. */
  issue(email: string): string {
    const exp = Date.now() + KNOWN_TTL_MS;
    return `${exp}.${signature(secretsIn(secret)[0], email, exp)}`;
  },

  isOf(text: string | undefined, email: string): boolean {
    const [, exp, signed] = /^(\d{1,15})\.([\w-]{43})$/.exec(text ?? '') ?? [];
    // eslint-disable-next-line no-restricted-syntax -- the time is inside of the signed cookie, and no row has it
    if (!exp || !signed || Number(exp) <= Date.now()) return false;
    return secretsIn(secret).some((key) => safeEqual(signed, signature(key, email, Number(exp))));
  },
});
