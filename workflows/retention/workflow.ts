/** The tick of a system schedule: deletes what is older than it is kept. What one tick leaves is the next one's. */
import { chores } from '../shared/activities.ts';

export async function retention(): Promise<void> {
  await chores.enforceRetention();
}
