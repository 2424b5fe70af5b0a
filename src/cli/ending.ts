/** How a command ends that runs the service: in order when it is told to, and at once when it is told again. */
import { whenNpmIsGone } from '../embedded/npm-parent.mjs';

/** A terminal, and a program that passes on its signals, may both deliver the same Ctrl-C within this time. */
const SAME_SIGNAL_MS = 300;

/** @param end stops everything; the process ends after it, with the exit code that it has set */
export function endWhenTold(end: (why: string) => Promise<void>): void {
  let first = 0;
  const begin = (why: string) => {
    first = performance.now();
    void end(why).finally(() => process.exit());
  };
  const onSignal = (signal: NodeJS.Signals) => {
    if (first === 0) begin(signal);
    else if (performance.now() - first > SAME_SIGNAL_MS) process.exit(1);
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal).on('SIGHUP', onSignal);
  whenNpmIsGone(() => first === 0 && begin('npm, which ran this, is gone'));
}
