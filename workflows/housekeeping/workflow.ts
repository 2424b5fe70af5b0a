/**
 * The tick of a system schedule: it repeats what was accepted but whose start was lost, and does what else nobody waits
 * for. Each chore is an activity of its own, with its own limits: one that fails, or hangs until its time is over,
 * holds up none of the others. The workflow only starts work and ends, as a schedule drops ticks while its action runs;
 * so no chore may take long.
 */
import { ApplicationFailure, patched, proxyActivities, type ActivityOptions } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import { itemAt } from '../../src/platform/core/present.ts';
import { chores } from '../shared/activities.ts';
import { CHORES, type Chore } from './messages.ts';

/** A chore that fails is not retried, because the next tick does it again. */
const ONCE: ActivityOptions = {
  startToCloseTimeout: '30s',
  scheduleToStartTimeout: '30s',
  heartbeatTimeout: '10s',
  retry: { maximumAttempts: 1 },
};
/** Somebody waits for what was accepted, so a worker that was killed must not cost it a tick. */
const ONCE_MORE: ActivityOptions = { ...ONCE, retry: { initialInterval: '1s', maximumAttempts: 2 } };

const LIMITS: Record<Chore, ActivityOptions> = {
  startRuns: ONCE_MORE,
  startProjects: ONCE_MORE,
  startWebhooks: ONCE_MORE,
  startOutputs: ONCE_MORE,
  startWorkspaces: ONCE_MORE,
  settleRuns: ONCE,
  settleProjects: ONCE,
  settleWorkspaces: ONCE,
  followRows: ONCE,
  tellSubmissions: ONCE,
  tellRouter: ONCE,
  tellPauses: ONCE,
  foldTallies: ONCE,
  releaseForgotten: ONCE,
  sweepTexts: ONCE,
};

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
