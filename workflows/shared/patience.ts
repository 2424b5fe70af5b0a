/**
 * Lets deliveries wait here while their host has no place for another one, where that holds up no worker. Such a wait
 * is no attempt.
 */
import { sleep } from '@temporalio/workflow';
import type { SlotWait } from '../../src/platform/temporal/activity-slots.ts';
import type { Later } from '../../src/resources/receivers/model.ts';

/** After so many waits the workflow continues as new, so that no history grows long. */
const MAX_WAITS = 100;

/**
 * @param made attempts that earlier executions made
 * @param attempts makes those that are left, and tells where there is no place for one
 * @returns how many were made, where this execution has waited often enough; undefined where it is delivered
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

/** Returns whether an activity gave its slot back, because its workspace has its share of the worker's slots. */
export const isSlotWait = (outcome: object | undefined | void): outcome is SlotWait =>
  typeof outcome === 'object' && outcome !== null && 'slotWaitMs' in outcome;
