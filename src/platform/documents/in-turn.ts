/**
 * Limits how many files are in memory at once: a file is loaded as a whole while it is looked at or read. A caller that
 * waits for a slot holds nothing yet. Workspaces take turns.
 */
import { createFairSlots } from '../fairness/fair-slots.ts';
import { currentWorkspace } from '../fairness/workspace-context.ts';

const AT_ONCE = 4;
const slots = createFairSlots(AT_ONCE);

/**
 * @param work loads the file and reads it
 * @throws whatever `signal` has for a reason, also where its turn has not come
 */
export async function inTurn<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
  signal?.throwIfAborted();
  const done = slots.run(currentWorkspace(), work, signal);
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
