/** Words of what is told of spending. */

/**
 * - `threshold`: so much of a cap is spent
 * - `unpriced`: a call had no known price, so that what is spent is more than what is counted
 */
export type SpendingTopic = 'threshold' | 'unpriced';

export const SPENDING_EVENTS = {
  threshold: 'spending.threshold',
  unpriced: 'spending.unpriced',
} as const satisfies Record<SpendingTopic, string>;

/** Percent of a cap, where it has none of its own; the trigger of the database has them too. */
export const ALERT_AT = [50, 80, 100] as const;

/** After so many attempts a receiver is given up; they lie ever further apart, a day in all. */
export const MOST_ATTEMPTS = 12;
