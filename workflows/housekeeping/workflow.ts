/**
 * One tick of housekeeping, as a schedule of earlier releases starts them. What began before an upgrade, or is started by
 * a worker of such a release beside this one, is done to its end; `workflows/housekeeper` does the same without end.
 */
import { ApplicationFailure, patched, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import { itemAt } from '../../src/platform/core/present.ts';
import { chores } from '../shared/activities.ts';
import { LIMITS } from './limits.ts';
import { CHORES } from './messages.ts';

export async function housekeeping(): Promise<void> {
  // This tick began before there were chores.
  if (!patched('chore-by-chore')) return chores.keepHouse();

  // Ticks that began before there was a sweep of texts know the chores of then.
  const all = patched('sweep-texts') ? CHORES : CHORES.filter((chore) => chore !== 'sweepTexts');
  const done = await Promise.allSettled(all.map((chore) => proxyActivities<Activities>(LIMITS[chore])[chore]()));
  const failed = all.filter((_, n) => itemAt(done, n).status === 'rejected');
  // A failed workflow is red in the Temporal Web UI.
  if (failed.length > 0) throw ApplicationFailure.nonRetryable(`failed: ${failed.join(', ')}`, 'chores_failed');
}
