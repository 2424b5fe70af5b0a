/** Decides whose task a worker takes next: the more urgent one, and among equals each workspace in its turn. */

/**
 * Priorities of workflow tasks and activities; 1 goes first. Runs that stand alone have 3, the middle of Temporal's
 * scale. Deliveries go last, because thousands of them may wait for receivers that do not answer.
 */
export const PRIORITY = { commands: 1, steps: 4, deliveries: 5 } as const;

/** Temporal takes fairness keys of at most 64 bytes. */
const MAX_KEY_LENGTH = 64;

/** @param kind which kind of work it is; without one it gets the middle priority */
export const priorityOf = (customerId: string, kind?: keyof typeof PRIORITY) => ({
  ...(kind && { priorityKey: PRIORITY[kind] }),
  fairnessKey: customerId.slice(0, MAX_KEY_LENGTH),
});
