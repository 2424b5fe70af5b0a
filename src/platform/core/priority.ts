/** Whose task a worker takes next: by urgency, and among equals each workspace in its turn. */

/**
 * Of workflow tasks and activities, 1 first; those of runs that stand alone have 3, Temporal's middle. Deliveries are last:
 * thousands of them may wait for receivers that do not answer.
 */
export const PRIORITY = { commands: 1, steps: 4, deliveries: 5 } as const;

/** Temporal takes keys of 64 bytes. */
const MAX_KEY_LENGTH = 64;

/** @param kind without one: the middle */
export const priorityOf = (customerId: string, kind?: keyof typeof PRIORITY) => ({
  ...(kind && { priorityKey: PRIORITY[kind] }),
  fairnessKey: customerId.slice(0, MAX_KEY_LENGTH),
});
