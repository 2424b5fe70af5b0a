/**
 * A file is in memory as a whole while it is looked at or read, so that few are at once; whoever waits for a place holds
 * none of it yet.
 */
import { createPlaces } from '../threads/threads.ts';

const AT_ONCE = 4;
const places = createPlaces(AT_ONCE);

/**
 * @param work loads the file and reads it
 * @throws whatever `signal` has for a reason, also where its turn has not come
 */
export async function inTurn<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
  signal?.throwIfAborted();
  const done = places.run(() => {
    signal?.throwIfAborted();
    return work();
  });
  if (!signal) return done;
  let giveUp = () => {};
  const given = new Promise<never>((_, reject) => {
    giveUp = () => reject(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
  });
  return Promise.race([done, given]).finally(() => {
    signal.removeEventListener('abort', giveUp);
    done.catch(() => {});
  });
}
