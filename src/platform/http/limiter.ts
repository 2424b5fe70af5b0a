/** Counts what comes under a name in a window of time, in this process: against floods, not to the last request. */

/** More names than these in one window are no longer told apart: then all of them share one count. */
const MAX_NAMES = 100_000;

/** @returns whether one more under this name is within the most of the window */
export function createLimiter(
  most: number,
  { windowMs = 60_000, now = () => performance.now() } = {},
): (name: string) => boolean {
  let began = now();
  let counts = new Map<string, number>();
  return (name) => {
    const at = now();
    if (at - began >= windowMs) {
      began = at;
      counts = new Map();
    }
    const known = counts.has(name) || counts.size < MAX_NAMES ? name : '';
    const count = (counts.get(known) ?? 0) + 1;
    counts.set(known, count);
    return count <= most;
  };
}
