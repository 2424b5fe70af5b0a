/**
 * The tick of a system schedule: repeats what was accepted but whose start was lost, and gives back what dead calls
 * still hold. Only spawns and ends, as a schedule drops ticks while its action runs.
 */
import { chores } from '../shared/activities.ts';

export async function housekeeping(): Promise<void> {
  await chores.keepHouse();
}
