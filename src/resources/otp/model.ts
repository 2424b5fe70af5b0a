/** Words and limits of the OTP gate. Pure. */

export const CHALLENGE_TTL_MS = 10 * 60_000;

/** Wrong codes that burn a challenge. */
export const MAX_WRONG_CODES = 5;

/**
 * Wrong codes in a row, over all challenges of a workspace, that lock its gate. The right one after it starts the count
 * anew; until then each further wrong one locks again, which leaves a guesser four guesses an hour.
 */
export const MAX_WRONG_IN_A_ROW = 100;
export const LOCK_MS = 15 * 60_000;

/** Challenges of a workspace that can be answered at a time: with one more the oldest ends. */
export const MAX_OPEN = 5;

/** In which mails of codes are counted. */
export const MAILS_WINDOW_MS = 60 * 60_000;
/** Of what a workspace may have mailed to one recipient, all of them together may have that often. */
const SHARES_OF_RECIPIENT = 5;
/** However many others have had mailed to a recipient that they share: nobody is kept from confirming by them. */
const RESERVED_MAILS = 3;

/** Codes that a recipient was mailed within the window. */
export interface MailsSent {
  ofWorkspace: number;
  ofAll: number;
}

/** Whether it may be mailed one more. */
export const mayMail = ({ ofWorkspace, ofAll }: MailsSent, perWorkspace: number): boolean =>
  ofWorkspace < perWorkspace && (ofWorkspace < RESERVED_MAILS || ofAll < perWorkspace * SHARES_OF_RECIPIENT);

/** Whether a challenge may still be answered. */
export const isOpen = (challenge: { usedAt: Date | null; wrongCodes: number; expiresAt: Date }): boolean =>
  challenge.usedAt === null && challenge.wrongCodes < MAX_WRONG_CODES && challenge.expiresAt.getTime() > Date.now();

/** `detail` of `otp_required`. */
export interface OtpDemand {
  otp_required: true;
  challenge_id: string;
  scope: string;
  /** Unix seconds. */
  expires_at: number;
  delivery: string;
}
