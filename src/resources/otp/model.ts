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
