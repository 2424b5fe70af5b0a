/**
 * Lets deliveries wait here while their host has no place for another one, where that holds up no worker. Such a wait
 * is no attempt.
 */
import { sleep } from '@temporalio/workflow';
import { createDetails } from './details.ts';
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
  let doing = 'Sends. Pending activities say how often, and why again.';
  const details = createDetails(() => doing);
  const end = (how: string): void => {
    doing = how;
    details.end();
  };
  details.show();
  for (let waits = 0; waits < MAX_WAITS; waits++) {
    let later: Later | undefined | void;
    try {
      later = await attempts(made);
    } catch (error) {
      end('Ended: given up. The failure of the workflow says why.');
      throw error;
    }
    if (!later) {
      end('Ended: sent, or no longer wanted.');
      return undefined;
    }
    made += later.made;
    details.waitFor('slot', { what: 'the delivery waits for a slot at its host' });
    await sleep(later.waitMs, { summary: 'slot at its host' });
  }
  end('Continued as new.');
  return made;
}

/** A call in the middle of a turn cannot continue as new. A wait is about eleven events, so it grows to this time. */
const LONGEST_SLOT_WAIT_MS = 120_000;

/**
 * Calls an activity until it keeps its slot: it gives the slot back if its workspace has its share of the worker's, or
 * if the file storage is away.
 * @param attempts makes the attempts that are left after `made`
 */
export async function untilThereIsASlot<Outcome extends object | undefined | void>(
  attempts: (made: number) => Promise<Outcome | SlotWait>,
): Promise<Outcome> {
  for (let made = 0, waits = 0; ; waits++) {
    const outcome = await attempts(made);
    if (!isSlotWait(outcome)) return outcome;
    made += outcome.made;
    await sleep(Math.max(outcome.slotWaitMs, Math.min(outcome.slotWaitMs * 2 ** waits, LONGEST_SLOT_WAIT_MS)), {
      summary: outcome.waitsFor ?? 'slot of its workspace',
    });
  }
}

const isSlotWait = (outcome: object | undefined | void): outcome is SlotWait =>
  typeof outcome === 'object' && outcome !== null && 'slotWaitMs' in outcome;
