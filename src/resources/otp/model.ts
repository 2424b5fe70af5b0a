/** Words and limits of the OTP gate, which asks for a code by mail. */

export const CHALLENGE_TTL_MS = 10 * 60_000;

/** So many wrong codes make a challenge useless. */
export const MAX_WRONG_CODES = 5;

/**
 * Wrong codes in a row, over all challenges of a holder, that lock the gate for it. The right one after it resets the
 * count; until then each further wrong one locks again, which leaves a guesser four guesses an hour.
 */
export const MAX_WRONG_IN_A_ROW = 100;
export const LOCK_MS = 15 * 60_000;

/** Challenges of a holder that can be answered at a time; one more ends the oldest. */
export const MAX_OPEN = 5;

/** Mails with codes are counted within this window. */
export const MAILS_WINDOW_MS = 60 * 60_000;
/** All workspaces together may have so many times the mails sent to one recipient that one workspace may. */
const SHARES_OF_RECIPIENT = 5;
/**
 * A holder may always have this many mails sent, whatever others of the workspace, or other workspaces, have had sent to
 * a recipient that they share: they must not keep it from confirming.
 */
const RESERVED_MAILS = 3;
/** The bearer of an action link needs one mail for an answer. Mails of links and of persons are counted apart. */
const RESERVED_MAILS_OF_LINK = 1;
const MAX_MAILS_OF_LINK = 5;

export const LINK = 'link:';
/**
 * Names who is limited: a person of the workspace, or an action link, whose bearer may be an outsider. Everything that
 * the gate counts, it counts for one of these, so that nobody uses up what another one needs.
 */
export const holderOf = (actor: string, linkId: string | undefined): string =>
  linkId === undefined ? `person:${actor.toLowerCase()}` : `${LINK}${linkId}`;

/** Counts codes that were mailed to a recipient within the window. */
export interface MailsSent {
  ofHolder: number;
  /** For a person of all persons of the workspace, for a link of all its links. */
  ofWorkspace: number;
  ofAll: number;
}

/** @returns whether the recipient may be mailed one more */
export function mayMail(holder: string, { ofHolder, ofWorkspace, ofAll }: MailsSent, perWorkspace: number): boolean {
  const isLink = holder.startsWith(LINK);
  if (isLink && ofHolder >= MAX_MAILS_OF_LINK) return false;
  if (ofHolder < Math.min(isLink ? RESERVED_MAILS_OF_LINK : RESERVED_MAILS, perWorkspace)) return true;
  return ofWorkspace < perWorkspace && ofAll < perWorkspace * SHARES_OF_RECIPIENT;
}

/**
 * @param challenge `isPast` is by the clock of the database, which all processes share
 * @returns whether the challenge may still be answered
 */
export const isOpen = (challenge: { usedAt: Date | null; wrongCodes: number; isPast: boolean }): boolean =>
  challenge.usedAt === null && challenge.wrongCodes < MAX_WRONG_CODES && !challenge.isPast;

/** The `detail` of `otp_required`. */
export interface OtpDemand {
  otp_required: true;
  challenge_id: string;
  scope: string;
  /** Unix seconds. */
  expires_at: number;
  delivery: string;
}
