/**
 * Limits concurrent work so that no workspace takes every slot. A workspace gets another slot while it holds fewer than
 * are free, so it takes half of the free slots at most. As slots are given back, `n` busy workspaces come to one part of
 * `n + 1` each, and the last part stays free for the next workspace.
 */
import { createCounts } from './counts.ts';
import { createFairQueue } from './fair-queue.ts';

export interface FairSlots {
  /**
   * Runs `work` when the workspace gets a slot.
   * @throws SlotsFullError when too many wait, the signal's reason when it aborts first, and whatever `work` throws
   */
  run<T>(workspace: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

export class SlotsFullError extends Error {
  override readonly name = 'SlotsFullError';
}

/** @param maxWaiting limits the queue. One workspace may fill as much of it as it leaves to the others. */
export function createFairSlots(count: number, maxWaiting = Infinity): FairSlots {
  const held = createCounts();
  const queue = createFairQueue<() => void>();

  const canTake = (workspace: string): boolean => held.of(workspace) < count - held.all();

  async function take(workspace: string, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (canTake(workspace)) return held.change(workspace, 1);
    if (queue.sizeFor(workspace) >= maxWaiting - queue.size) throw new SlotsFullError('too much work is waiting');
    await new Promise<void>((resolve, reject) => {
      const enter = () => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        queue.remove(workspace, enter);
        reject(signal?.reason);
      };
      queue.push(workspace, enter);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  function give(workspace: string): void {
    held.change(workspace, -1);
    for (let next = queue.shift(canTake); next; next = queue.shift(canTake)) {
      held.change(next.workspace, 1);
      next.item();
    }
  }

  return {
    async run(workspace, work, signal) {
      await take(workspace, signal);
      try {
        return await work();
      } finally {
        give(workspace);
      }
    },
  };
}
