/**
 * Deliveries to a host that has no place for another one at the moment: they wait here, where that holds up no worker.
 * What was waited is no attempt.
 */
import { sleep } from '@temporalio/workflow';
import type { Later } from '../../src/resources/receivers/model.ts';

/** Then it continues as new, so that no history grows long. */
const MAX_WAITS = 100;

/**
 * @param made attempts that an execution before this one made
 * @param attempts makes those that are left, and tells where there is no place for one
 * @returns how many were made, where this execution has waited often enough; undefined: it is delivered
 */
export async function untilThereIsAPlace(
  made: number,
  attempts: (made: number) => Promise<Later | undefined | void>,
): Promise<number | undefined> {
  for (let waits = 0; waits < MAX_WAITS; waits++) {
    const later = await attempts(made);
    if (!later) return undefined;
    made += later.made;
    await sleep(later.waitMs);
  }
  return made;
}
