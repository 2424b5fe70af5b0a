/**
 * Shares the activity slots of a worker between workspaces. Temporal hands out tasks fairly, but a slot that is taken
 * stays taken until its activity ends: the slow model server of one workspace would hold all of them. So an activity that
 * finds its workspace over its share gives its slot back, and its workflow waits.
 *
 * A workspace gets another slot while it holds fewer than are free, as in `fair-slots.ts`.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createCounts } from '../fairness/counts.ts';
import { createFairQueue } from '../fairness/fair-queue.ts';
import { NO_WORKSPACE } from '../fairness/workspace-context.ts';

/** The result of an activity that gave its slot back. */
export interface SlotWait {
  /** Its workflow asks again after this time, or when it is woken. */
  slotWaitMs: number;
  /** Attempts that this activity had made before; giving the slot back is none. */
  made: number;
  /** If it is no slot that the activity waits for. */
  waitsFor?: 'file storage';
}

/** Work whose activity gave its slot back. */
export interface Parked {
  id: string;
  /** Tells the workflow to ask again. It rejects if the workflow is gone. */
  wake(): Promise<unknown>;
  /** Is called once if it waits longer than `LONG_WAIT_MS`. */
  waitsLong(): void;
}

export interface ActivitySlots {
  /** Runs an activity that has taken one of the worker's slots. */
  hold<T>(workspace: string, activity: () => Promise<T>): Promise<T>;
  use(): SlotUse;
  /** Tells those who wait for a slot to ask again at once, since this worker takes no more: another one has them. */
  leave(): Promise<void>;
}

interface SlotUse {
  taken: number;
  free: number;
  /** Activities that gave their slots back. */
  waiting: number;
}

/** Gives the slot back if the workspace is over its share. Returns the wait in ms; undefined if the activity goes on. */
type GiveBack = (parked: Parked | undefined) => number | undefined;

/** A wait that is longer than this is told to whoever looks. */
export const LONG_WAIT_MS = 2_000;
/** A slot is kept this long for a workflow that was woken; then the next one is woken. */
const WOKEN_MS = 2_000;
/** Waits grow with the number of those that wait, so that a workspace asks ten times a second, however many they are. */
const WAIT_MS_EACH = 100;
const LEAST_WAIT_MS = 1_000;
/** A workflow that is woken asks by itself too: its place in the queue is lost when its worker stops. */
const LEAST_PARKED_MS = 30_000;
const MOST_WAIT_MS = 600_000;
/** A worker that ends wakes so many at a time. */
const WOKEN_AT_ONCE = 50;

const current = new AsyncLocalStorage<GiveBack>();

/**
 * Returns when to ask again if the current activity has to give its slot back; undefined if it may go on. Outside of a
 * worker it always may.
 * @param attempt of the activity, from 1
 * @param parked is woken when the workspace may have another slot; without it the workflow asks by a timer alone
 */
export function slotWait(attempt: number, parked?: Parked): SlotWait | undefined {
  const slotWaitMs = current.getStore()?.(parked);
  return slotWaitMs === undefined ? undefined : { slotWaitMs, made: attempt - 1 };
}

const waitFor = (waiting: number, least: number): number => Math.min(least + WAIT_MS_EACH * waiting, MOST_WAIT_MS);

export function createActivitySlots(total: number): ActivitySlots {
  const held = createCounts();
  /** Slots that are kept for workflows which were woken, by workspace. */
  const kept = createCounts();
  const woken = new Map<string, () => void>();
  const parked = new Map<string, Parked>();
  const queue = createFairQueue<Parked>();
  /** Activities that were told to come again, and have not come yet. */
  const absent = createCounts();
  let isLeaving = false;

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

  function isOver(workspace: string, isWoken: boolean): boolean {
    // Its own slot is one of those that are held.
    const before = held.of(workspace) - 1;
    // An activity that comes by a timer may take a slot that is kept for a workflow of its own workspace. Those that are
    // woken would have every slot otherwise, as long as any of them waits.
    const own = isWoken ? kept.of(workspace) : 0;
    return before + own >= total - (held.all() - 1) - (kept.all() - kept.of(workspace) + own);
  }

  /** Waits for a wake-up, before the others if a slot was kept for it and taken by an activity of its workspace. */
  function park(workspace: string, asking: Parked, isFirst: boolean): number {
    if (!parked.has(asking.id)) {
      parked.set(asking.id, asking);
      queue.push(workspace, asking, isFirst);
      setTimeout(() => {
        if (parked.get(asking.id) === asking) asking.waitsLong();
      }, LONG_WAIT_MS).unref();
    }
    return waitFor(queue.sizeFor(workspace), LEAST_PARKED_MS);
  }

  function unpark(workspace: string, id: string): void {
    const before = parked.get(id);
    if (!before) return;
    parked.delete(id);
    queue.remove(workspace, before);
  }

  function comeAgain(workspace: string): number {
    absent.change(workspace, 1);
    const waitMs = waitFor(absent.of(workspace), LEAST_WAIT_MS);
    setTimeout(() => absent.change(workspace, -1), waitMs).unref();
    return waitMs;
  }

  const giveBackOf =
    (workspace: string, release: () => void): GiveBack =>
    (asking) => {
      const arrive = asking && woken.get(asking.id);
      arrive?.();
      if (workspace === NO_WORKSPACE || !isOver(workspace, asking !== undefined)) {
        if (asking) unpark(workspace, asking.id);
        return undefined;
      }
      release();
      return asking && !isLeaving ? park(workspace, asking, arrive !== undefined) : comeAgain(workspace);
    };

  async function wakeOneByOne(): Promise<void> {
    for (let next = queue.shift(); next; next = queue.shift()) {
      parked.delete(next.item.id);
      // One that is not told asks by itself, later.
      await next.item.wake().catch(() => {});
    }
  }

  return {
    async hold(workspace, activity) {
      let isHeld = true;
      const release = () => {
        if (isHeld) held.change(workspace, -1);
        isHeld = false;
      };
      held.change(workspace, 1);
      try {
        return await current.run(giveBackOf(workspace, release), activity);
      } finally {
        release();
        wakeNext();
      }
    },
    use: () => ({
      taken: held.all(),
      free: Math.max(0, total - held.all()),
      waiting: queue.size + absent.all(),
    }),
    async leave() {
      isLeaving = true;
      await Promise.all(Array.from({ length: WOKEN_AT_ONCE }, wakeOneByOne));
    },
  };
}
