/** Holds this thread up, and with it the event loop. */

/** By computing for so many milliseconds of the processor's time, however busy the machine is. */
export function compute(ms: number): void {
  const before = process.threadCpuUsage();
  for (let used = 0; used < ms * 1_000;) {
    const { user, system } = process.threadCpuUsage(before);
    used = user + system;
  }
}

/** By waiting: it uses no CPU, as when the machine has no core for it. */
export function standIdle(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
