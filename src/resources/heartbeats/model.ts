/** Rules of heartbeats. */
export const MIN_INTERVAL_S = 10;

/**
 * @param intervalS seconds
 * @returns when an interval next comes: Temporal counts intervals from the Unix epoch, and so does this
 */
export const nextBeat = (intervalS: number, after = new Date()): Date => {
  const ms = intervalS * 1_000;
  return new Date((Math.floor(after.getTime() / ms) + 1) * ms);
};
