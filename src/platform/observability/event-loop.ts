/**
 * How late the event loop is, seen by a timer that should come at every tick. While it stands still nothing else of the
 * process goes on: no request, no heartbeat, no timer. A machine that is too busy makes it late as well, and that is not
 * the process's doing; hence beside the time that went by stands how much of it this thread was computing itself.
 */
export interface Tick {
  /** The tick came so much later than it should. */
  delayMs: number;
  /**
   * For so long of that the thread itself worked, by its CPU time; for the rest it waited for a core, or for a
   * synchronous call.
   */
  ownMs: number;
}

/** Long enough to cost nothing, short enough that a standstill is told to within a tenth of what is too long. */
export const TICK_MS = 20;
/** From here on a standstill counts, because others notice it. */
export const STALL_MS = 250;

/** @param onTick called at every tick, late or not; it must be quick itself */
export function watchEventLoop(onTick: (tick: Tick) => void): { stop(): void } {
  let at = performance.now();
  let worked = threadMs();
  const timer = setInterval(() => {
    const [now, workedNow] = [performance.now(), threadMs()];
    const delayMs = Math.max(0, now - at - TICK_MS);
    // The thread may have worked within the tick without being late for it.
    const ownMs = Math.min(delayMs, workedNow - worked);
    [at, worked] = [now, workedNow];
    onTick({ delayMs, ownMs });
  }, TICK_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

/** @returns CPU time of this thread alone, since the compiler and most of the garbage collector work in others */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
