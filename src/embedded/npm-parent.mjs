/**
 * Says when npm, which ran this process, has gone without passing on a signal: killed, or out of memory. Whoever starts npm again
 * would otherwise find the ports taken. It imports no package, because set-up runs before they exist.
 */
const LOOK_MS = 500;

/** @param act is called once; never where npm did not run this process */
export function whenNpmIsGone(act) {
  if (!process.env.npm_lifecycle_event) return;
  const { ppid } = process;
  const timer = setInterval(() => {
    if (process.ppid === ppid) return;
    clearInterval(timer);
    act();
  }, LOOK_MS);
  timer.unref();
}
