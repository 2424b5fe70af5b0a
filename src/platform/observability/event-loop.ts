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

/** Short enough that a standstill is told to within a tenth of what is too long. */
export const TICK_MS = 20;
/** Fifty ticks a second take a hundredth of a core, so a loop that has little to do has fewer. */
const CALM_TICK_MS = 200;
/** The loop has little to do while it is at work for less than this share of the time. */
const CALM = 0.1;
/** From here on a standstill counts, because others notice it. */
export const STALL_MS = 250;

/** @param onTick called at every tick, late or not; it must be quick itself */
export function watchEventLoop(onTick: (tick: Tick) => void): { stop(): void } {
  let at = performance.now();
  let worked = threadMs();
  let utilization = performance.eventLoopUtilization();
  let waitMs = TICK_MS;
  let timer = setTimeout(tick, waitMs).unref();

  function tick(): void {
    const [now, workedNow, utilizationNow] = [performance.now(), threadMs(), performance.eventLoopUtilization()];
    const since = performance.eventLoopUtilization(utilizationNow, utilization);
    const lateMs = Math.max(0, now - at - waitMs);
    // Of a long wait a standstill may have taken the end before it made the tick late. The loop had little else to do then.
    const delayMs = waitMs > TICK_MS && lateMs > TICK_MS ? Math.max(lateMs, since.active) : lateMs;
    // The thread may have worked within the tick without being late for it.
    const ownMs = Math.min(delayMs, workedNow - worked);
    [at, worked, utilization] = [now, workedNow, utilizationNow];
    waitMs = since.utilization < CALM ? CALM_TICK_MS : TICK_MS;
    timer = setTimeout(tick, waitMs).unref();
    onTick({ delayMs, ownMs });
  }
  return { stop: () => clearTimeout(timer) };
}

/** @returns CPU time of this thread alone, since the compiler and most of the garbage collector work in others */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
