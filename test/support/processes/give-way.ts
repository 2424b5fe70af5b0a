/** Processes that other tests are not to wait for. */
import type { ChildProcess } from 'node:child_process';
import { constants, setPriority } from 'node:os';

/**
 * Gives it, and the processes it starts from now on, only the time that nobody else wants: a build on all cores would make
 * the calls of services under test miss their deadlines.
 */
export function giveWay({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // It has ended already.
  }
}
