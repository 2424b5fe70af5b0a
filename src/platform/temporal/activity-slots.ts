/**
 * Shares the activity slots of a worker between workspaces. Temporal hands out tasks fairly, but a slot that is taken
 * stays taken until its activity ends: the slow model server of one workspace would hold all of them. So an activity that
 * finds its workspace over its share gives its slot back, and its workflow waits.
 *
 * A workspace gets another slot while it holds fewer than are free, as in `fair-slots.ts`.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createFairQueue } from '../fairness/fair-queue.ts';
import { NO_WORKSPACE } from '../fairness/workspace-context.ts';

/** The result of an activity that gave its slot back: when its workflow has to ask again. */
export interface SlotWait {
  slotWaitMs: number;
}

/** Work whose activity gave its slot back. */
export interface Parked {
  id: string;
  /** Tells the workflow to ask again. It rejects if the workflow is gone. */
  wake(): Promise<unknown>;
}

export interface ActivitySlots {
  /** Runs an activity that has taken one of the worker's slots. */
  hold<T>(workspace: string, activity: () => Promise<T>): Promise<T>;
}

interface HeldSlot {
  /** Returns whether the activity has to give its slot back. `parked` is woken when the workspace may have another. */
  mustYield(parked?: Parked): boolean;
  /** Returns the wait, in ms, of an activity that has to give its slot back; undefined if it may go on. */
  yieldMs(): number | undefined;
}

/** A slot is kept this long for a workflow that was woken; then the next one is woken. */
const WOKEN_MS = 2_000;
/** Those who come again by a timer are so few that they ask ten times a second, however many they are. */
const LEAST_WAIT_MS = 1_000;
const WAIT_MS_EACH = 100;
const MOST_WAIT_MS = 600_000;

const current = new AsyncLocalStorage<HeldSlot>();

/** Returns whether the current activity has to give its slot back. Outside of a worker it never has to. */
export const mustYieldSlot = (parked?: Parked): boolean => current.getStore()?.mustYield(parked) ?? false;

/** Returns when to ask again if the current activity has to give its slot back; undefined if it may go on. */
export function slotWait(): SlotWait | undefined {
  const slotWaitMs = current.getStore()?.yieldMs();
  return slotWaitMs === undefined ? undefined : { slotWaitMs };
}

export function createActivitySlots(total: number): ActivitySlots {
  const held = createCounts();
  /** Slots that are kept for workflows which were woken, by workspace. */
  const kept = createCounts();
  const woken = new Map<string, () => void>();
  const parked = new Map<string, Parked>();
  const queue = createFairQueue<Parked>();
  /** Activities that were told to come again, and have not come yet. */
  const absent = createCounts();

  const canHave = (workspace: string): boolean =>
    held.of(workspace) + kept.of(workspace) < total - held.all() - kept.all();

  function wakeNext(): void {
    for (let next = queue.shift(canHave); next; next = queue.shift(canHave)) {
      const { workspace, item } = next;
      parked.delete(item.id);
      kept.change(workspace, 1);
      const arrive = () => {
        if (!woken.delete(item.id)) return;
        clearTimeout(timer);
        kept.change(workspace, -1);
      };
      const giveUp = () => {
        arrive();
        wakeNext();
      };
      const timer = setTimeout(giveUp, WOKEN_MS).unref();
      woken.set(item.id, arrive);
      item.wake().catch(giveUp);
    }
  }

  function isOver(workspace: string): boolean {
    // Its own slot is one of those that are held.
    const before = held.of(workspace) - 1;
    return before + kept.of(workspace) >= total - (held.all() - 1) - kept.all();
  }

  const slotFor = (workspace: string, release: () => void): HeldSlot => ({
    mustYield(asking) {
      if (asking) woken.get(asking.id)?.();
      if (workspace === NO_WORKSPACE || !isOver(workspace)) {
        const before = asking && parked.get(asking.id);
        if (before) {
          parked.delete(before.id);
          queue.remove(workspace, before);
        }
        return false;
      }
      if (asking && !parked.has(asking.id)) {
        parked.set(asking.id, asking);
        queue.push(workspace, asking);
      }
      release();
      return true;
    },
    yieldMs() {
      if (workspace === NO_WORKSPACE || !isOver(workspace)) return undefined;
      release();
      absent.change(workspace, 1);
      const waitMs = Math.min(LEAST_WAIT_MS + WAIT_MS_EACH * absent.of(workspace), MOST_WAIT_MS);
      setTimeout(() => absent.change(workspace, -1), waitMs).unref();
      return waitMs;
    },
  });

  return {
    async hold(workspace, activity) {
      let isHeld = true;
      const release = () => {
        if (isHeld) held.change(workspace, -1);
        isHeld = false;
      };
      held.change(workspace, 1);
      try {
        return await current.run(slotFor(workspace, release), activity);
      } finally {
        release();
        wakeNext();
      }
    },
  };
}

function createCounts() {
  const counts = new Map<string, number>();
  let sum = 0;
  return {
    all: (): number => sum,
    of: (name: string): number => counts.get(name) ?? 0,
    change(name: string, by: 1 | -1): void {
      const left = (counts.get(name) ?? 0) + by;
      if (left === 0) counts.delete(name);
      else counts.set(name, left);
      sum += by;
    },
  };
}
