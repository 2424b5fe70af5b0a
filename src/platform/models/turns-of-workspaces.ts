import { present } from '../core/present.ts';
import { createFairQueue } from '../fairness/fair-queue.ts';

/**
 * Does one thing at a time, for workspaces in turn: what one of them asks for at once waits behind itself, and the
 * others have every second turn, third turn and so on, as many as there are.
 */

interface Caller {
  /** So many turns of others go before each one of this caller's, as far as is known now. */
  before: number;
  /** Does the work when the caller has its turn. */
  take<T>(work: () => Promise<T>): Promise<T>;
  /** Must be called at the end; otherwise the workspace counts as waiting for ever. */
  leave(): void;
}

export function createTurns() {
  /** So many callers each workspace has. */
  const callers = new Map<string, number>();
  const waiting = createFairQueue<() => Promise<unknown>>();
  let isAtWork = false;

  async function work(): Promise<void> {
    if (isAtWork) return;
    isAtWork = true;
    for (let next = waiting.shift(); next; next = waiting.shift()) await next.item();
    isAtWork = false;
  }

  return {
    enter(workspace: string): Caller {
      const own = (callers.get(workspace) ?? 0) + 1;
      callers.set(workspace, own);
      return {
        before: own * callers.size - 1,
        take: (ask) =>
          new Promise((resolve, reject) => {
            const turn = async () => resolve(await ask());
            waiting.push(workspace, () => turn().catch(reject));
            void work();
          }),
        leave() {
          const left = present(callers.get(workspace)) - 1;
          if (left > 0) callers.set(workspace, left);
          else callers.delete(workspace);
        },
      };
    },
  };
}
