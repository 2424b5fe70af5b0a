/**
 * Says which piece of work holds up the event loop of a service for longer than anybody should wait for it.
 *
 * A machine that is too busy must not be taken for a service that is: what counts is the CPU time that the loop's own
 * thread used while it stood still. And a first time is slow for many a reason (code not yet compiled, a collection of
 * garbage that others left): whatever is suspected is done again, alone, and is guilty if it takes too long every time.
 */
import { STALL_MS, TICK_MS, watchEventLoop } from '../../../src/platform/observability/event-loop.ts';
import { scrape } from './scrape.ts';

export interface LoopProbe {
  /** The longest standstill since it was last asked, in ms of the loop's own work. */
  longestMs(): Promise<number>;
}

/** Of this process: for a service that a test has within itself. What the test computes meanwhile counts too. */
export function watchOwnLoop(): LoopProbe & { stop(): void } {
  let longest = 0;
  const { stop } = watchEventLoop(({ ownMs }) => (longest = Math.max(longest, ownMs)));
  return {
    stop,
    async longestMs() {
      // After a standstill the tick is overdue, and comes before any other timer.
      await new Promise((resolve) => setTimeout(resolve, 1));
      const seen = longest;
      longest = 0;
      return seen;
    },
  };
}

/**
 * Of other processes, by their pages of metrics, which nobody else may read meanwhile. One that is down is left out.
 * @param urls as they are at the moment
 */
export const watchLoopsAt = (urls: () => readonly string[]): LoopProbe => ({
  async longestMs() {
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    const pages = await Promise.allSettled(urls().map(scrape));
    const longest = pages.map((page) =>
      page.status === 'fulfilled' ? (page.value.value('aos_event_loop_longest_own_delay_seconds') ?? 0) : 0,
    );
    return Math.max(0, ...longest) * 1_000;
  },
});

export interface Stall<Work> {
  work: Work;
  /** Of several times alone, the shortest. */
  ms: number;
}

/** How often a suspect is done alone, at most. */
const TIMES_ALONE = 3;
/** Pieces of work between two looks at the loop; of a suspicious lot each is done again. */
const LOT = 32;
/** Whoever has read of so many need not wait for more: each takes its time again and again. */
const ENOUGH = 3;

/**
 * @param doAll does all of the work, as much of it at once as it likes, and resolves when what it set off is over too
 * @returns the pieces that hold the loop up, the first few of them
 */
export async function findStalls<Work>(
  probe: LoopProbe,
  all: readonly Work[],
  doAll: (some: readonly Work[]) => Promise<unknown>,
  enough = ENOUGH,
): Promise<Stall<Work>[]> {
  const timed = async (some: readonly Work[]): Promise<number> => {
    await doAll(some);
    return probe.longestMs();
  };
  const found: Stall<Work>[] = [];
  // What was before is nobody's fault here.
  await probe.longestMs();
  for (let at = 0; at < all.length; at += LOT) {
    const lot = all.slice(at, at + LOT);
    if ((await timed(lot)) <= STALL_MS) continue;
    for (const work of lot) {
      let ms = Infinity;
      for (let left = TIMES_ALONE; left > 0 && ms > STALL_MS; left--) ms = Math.min(ms, await timed([work]));
      if (ms > STALL_MS) found.push({ work, ms: Math.round(ms) });
      if (found.length >= enough) return found;
    }
  }
  return found;
}

/** How often a loop is looked at while others ask the service, in ms. */
const LOOK_MS = 500;

/**
 * Looks at the loop while somebody else gives the service its work.
 * @param doneSince what was under way since this was last asked; of a time with a standstill it is suspected
 */
export async function suspectsDuring<Work, Result>(
  probe: LoopProbe,
  doneSince: () => readonly Work[],
  others: Promise<Result>,
): Promise<{ result: Result; suspects: Work[] }> {
  const suspects: Work[] = [];
  let isOver = false;
  const look = async () => {
    const ms = await probe.longestMs();
    const done = doneSince();
    if (ms > STALL_MS) suspects.push(...done);
  };
  await look();
  suspects.length = 0;
  const looking = (async () => {
    while (!isOver) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      await look();
    }
  })();
  const result = await others.finally(() => (isOver = true));
  await looking;
  return { result, suspects };
}
