/** Work that must not overlap, by what it is on. */

/**
 * One after another for each key, in the order of the calls. A caller's own deadline covers its wait.
 *
 * The commands on one project go through it: the server takes ten updates of a workflow at once and no more, and the
 * SDK has been seen to lose a workflow task, for ten seconds, when many come together.
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
