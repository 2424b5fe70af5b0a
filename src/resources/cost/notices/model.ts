/** Words of what is told of spending. */

/**
 * - `threshold`: so much of a cap is spent
 * - `surge`: an hour cost several times what one usually does
 * - `unpriced`: a call had no known price, so that what is spent is more than what is counted
 */
export type SpendingTopic = 'threshold' | 'surge' | 'unpriced';

export const SPENDING_EVENTS = {
  threshold: 'spending.threshold',
  surge: 'spending.surge',
  unpriced: 'spending.unpriced',
} as const satisfies Record<SpendingTopic, string>;

/** Percent of a cap, where it has none of its own; the trigger of the database has them too. */
export const ALERT_AT = [50, 80, 100] as const;

/** After so many attempts a receiver is given up; they lie ever further apart, a day in all. */
export const MOST_ATTEMPTS = 12;

/** An hour that costs so many times what is usual is told of, once a day; below so many US dollars nobody is woken. */
export const SURGE = { times: 5, leastUsd: 1 } as const;

/** What is usual is what the hours with any cost had on average, of so many days; with fewer hours nothing is usual yet. */
export const USUAL = { days: 14, leastHours: 24 } as const;

/** So often each process looks for hours that cost too much. */
export const SURGE_LOOK_MS = 10 * 60_000;
