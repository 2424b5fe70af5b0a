/** Words and limits of sign-in. */

// An address is locked as the gate of a workspace is.
export { CHALLENGE_TTL_MS, isOpen, MAX_WRONG_IN_A_ROW, LOCK_MS } from '../otp/model.ts';

/** The link in a mail signs in whoever has the mail, also where its code is used up by wrong guesses. */
export const LINK_TTL_MS = 60 * 60_000;

/** The embedded mode prints such a link, which signs in without a mail and can be used for this long. */
export const LOCAL_LINK_TTL_MS = 15 * 60_000;

/**
 * Mails that one address is sent while their links are good and nobody has used them; who asks for more gets the same
 * answer and no mail. So there is always a way in: a new mail, or one that came within the hour.
 */
export const MAX_MAILS = 5;

/** A browser is known for this long after an address has signed in with it. */
export const KNOWN_TTL_MS = 180 * 24 * 60 * 60_000;

/**
 * So much time may pass between having shown who one is, or having left for the identity provider, and the end of
 * sign-in.
 */
export const SIGN_IN_TTL_MS = 10 * 60_000;

/**
 * @returns the address to go to after sign-in: one of this service, or its own page, and never another site, whoever
 * wrote the link
 */
export function ownPath(text: unknown): string {
  const base = 'http://service.invalid';
  if (typeof text !== 'string' || text.length > 500 || !/^\/[^/\\]/.test(text) || /[\p{C}\s\\]/u.test(text))
    return '/login';
  return URL.canParse(text, base) && new URL(text, base).origin === base ? text : '/login';
}
