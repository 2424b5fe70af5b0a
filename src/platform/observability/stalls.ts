/** Counts how late a process's event loop is, and says in the log what was under way when it stood still. */
import type { Log } from '../core/log.ts';
import { STALL_MS, watchEventLoop } from './event-loop.ts';
import type { Meters } from './meters.ts';

/** Whatever holds a loop up once does so again: one line within this time says enough. */
const QUIET_MS = 10_000;
const MAX_NAMED = 10;

export type Stalls = ReturnType<typeof watchStalls>;

interface Work {
  /** It is called only when the name is needed, because a route is known after its request has begun. */
  name: () => string;
}

export function watchStalls({
  meters,
  log,
}: {
  meters: Pick<Meters, 'loopDelay' | 'loopOwnDelay' | 'longestDelay' | 'longestOwnDelay'>;
  log: Log;
}) {
  const underWay = new Set<Work>();
  /** Work that has ended since the last tick, as what held the loop up may have ended with it. */
  let ended: Work[] = [];
  let quietUntil = 0;
  let untold = 0;

  const tell = (delayMs: number, ownMs: number): void => {
    if (performance.now() < quietUntil) {
      untold += 1;
      return;
    }
    // The latest come first: what ended just now, then what began last. Work that has waited for long hardly holds the
    // loop up.
    const suspects = [...ended.toReversed(), ...[...underWay].toReversed()].map(({ name }) => name());
    log.warn(
      {
        stood_still_ms: Math.round(delayMs),
        own_ms: Math.round(ownMs),
        untold_before: untold,
        under_way: [...new Set(suspects)].slice(0, MAX_NAMED),
      },
      'the event loop stood still',
    );
    quietUntil = performance.now() + QUIET_MS;
    untold = 0;
  };

  const loop = watchEventLoop(({ delayMs, ownMs }) => {
    meters.loopDelay.observe(delayMs / 1_000);
    meters.loopOwnDelay.observe(ownMs / 1_000);
    meters.longestDelay.note(delayMs / 1_000);
    meters.longestOwnDelay.note(ownMs / 1_000);
    if (delayMs > STALL_MS) tell(delayMs, ownMs);
    ended = [];
  });

  return {
    /**
     * Notes that a piece of work begins.
     * @param name has few values and nothing in it that a tenant wrote
     * @returns to be called at its end
     */
    begin(name: () => string): () => void {
      const work = { name };
      underWay.add(work);
      return () => {
        if (underWay.delete(work)) ended.push(work);
      };
    },
    stop: loop.stop,
  };
}
