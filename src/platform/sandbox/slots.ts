/**
 * Limits how many sandboxed programs run at once. A program may use all the time that it is given, so one workspace gets
 * half of the slots at most: programs of the others must not wait for its endless loops.
 */
import { createFairSlots } from '../fairness/fair-slots.ts';
import { SandboxError } from './sandbox-error.ts';

const LONGEST_WAIT_MS = 60_000;

export interface Slots {
  /** Runs `work` when there is a slot for it. @throws SandboxError after a minute without one */
  run<T>(owner: string, signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

export const createSlots = (total: number, longestWaitMs = LONGEST_WAIT_MS): Slots => {
  const slots = createFairSlots(total);
  return {
    async run(owner, signal, work) {
      const waiting = new AbortController();
      const timer = setTimeout(
        () => waiting.abort(new SandboxError('all sandboxes are taken: try again later')),
        longestWaitMs,
      );
      const begin = () => {
        // From here on the program heeds the signal itself.
        clearTimeout(timer);
        return work();
      };
      return slots.run(owner, begin, AbortSignal.any([signal, waiting.signal])).finally(() => clearTimeout(timer));
    },
  };
};
