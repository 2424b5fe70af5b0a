/** Words and limits of the OTP gate, which asks for a code by mail. */

export const CHALLENGE_TTL_MS = 10 * 60_000;

/** So many wrong codes make a challenge useless. */
export const MAX_WRONG_CODES = 5;

/**
 * Wrong codes in a row, over all challenges of a workspace, that lock its gate. The right one after it starts the count
 * anew; until then each further wrong one locks again, which leaves a guesser four guesses an hour.
 */
export const MAX_WRONG_IN_A_ROW = 100;
export const LOCK_MS = 15 * 60_000;

/** So many challenges of a workspace can be answered at a time; one more ends the oldest. */
export const MAX_OPEN = 5;

/** Mails with codes are counted within this window. */
export const MAILS_WINDOW_MS = 60 * 60_000;
/** All workspaces together may have so many times the mails sent to one recipient that one workspace may. */
const SHARES_OF_RECIPIENT = 5;
/**
 * A workspace may always have so many mails sent, whatever others have had sent to a recipient that they share: they
 * must not keep it from confirming.
 */
const RESERVED_MAILS = 3;

/** So many codes were mailed to a recipient within the window. */
export interface MailsSent {
  ofWorkspace: number;
  ofAll: number;
}

/** @returns whether the recipient may be mailed one more */
export const mayMail = ({ ofWorkspace, ofAll }: MailsSent, perWorkspace: number): boolean =>
  ofWorkspace < perWorkspace && (ofWorkspace < RESERVED_MAILS || ofAll < perWorkspace * SHARES_OF_RECIPIENT);

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
