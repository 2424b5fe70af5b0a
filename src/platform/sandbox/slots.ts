/**
 * Limits how many sandboxed programs run at once. They are other people's code and may use all the time they are given,
 * so one workspace gets half the places at most: programs of the others must not wait for its endless loops.
 */
import { SandboxError } from './sandbox-error.ts';

const LONGEST_WAIT_MS = 60_000;

export interface Slots {
  /** Runs `work` when there is a place for it. @throws SandboxError after a minute without one */
  run<T>(owner: string, signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

export const createSlots = (total: number, longestWaitMs = LONGEST_WAIT_MS): Slots => {
  const perOwner = Math.ceil(total / 2);
  const running = new Map<string, number>();
  const waiting = new Set<{ owner: string; go: () => void }>();
  let taken = 0;

  const isFree = (owner: string) => taken < total && (running.get(owner) ?? 0) < perOwner;
  const count = (owner: string, change: 1 | -1) => {
    taken += change;
    const left = (running.get(owner) ?? 0) + change;
    if (left === 0) running.delete(owner);
    else running.set(owner, left);
  };

  const take = async (owner: string, signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted();
    if (isFree(owner)) return count(owner, 1);
    const tooLong = AbortSignal.timeout(longestWaitMs);
    const given = AbortSignal.any([signal, tooLong]);
    await new Promise<void>((resolve, reject) => {
      const place = { owner, go: resolve };
      waiting.add(place);
      given.addEventListener('abort', () => {
        // The program has its place already, and heeds the signal itself.
        if (!waiting.delete(place)) return;
        reject(tooLong.aborted ? new SandboxError('all sandboxes are taken: try again later') : signal.reason);
      });
    });
  };

  const give = (owner: string): void => {
    count(owner, -1);
    for (const place of waiting) {
      if (!isFree(place.owner)) continue;
      waiting.delete(place);
      count(place.owner, 1);
      place.go();
    }
  };

  return {
    async run(owner, signal, work) {
      await take(owner, signal);
      try {
        return await work();
      } finally {
        give(owner);
      }
    },
  };
};
