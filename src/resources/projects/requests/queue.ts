/** Keeps work on the same thing from overlapping. */

/**
 * Runs the work of each key one after another, in the order of the calls. The time that a caller waits counts against
 * its own deadline.
 *
 * The commands on one project go through such a queue. The server takes no more than ten updates of a workflow at once,
 * and when many come together, the SDK has been seen to lose a workflow task for ten seconds.
 */
export function createQueue() {
  const last = new Map<string, Promise<void>>();
  return function inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const done = (last.get(key) ?? Promise.resolve()).then(work);
    const settled: Promise<void> = done.then(
      () => leave(),
      () => leave(),
    );
    const leave = () => {
      if (last.get(key) === settled) last.delete(key);
    };
    last.set(key, settled);
    return done;
  };
}
