/** How long each chore may take, and how often it is tried. */
import type { ActivityOptions } from '@temporalio/workflow';
import type { Chore } from './chores.ts';

/** A chore that fails is not retried, because the next round does it again. */
const ONCE: ActivityOptions = {
  startToCloseTimeout: '30s',
  scheduleToStartTimeout: '30s',
  heartbeatTimeout: '10s',
  retry: { maximumAttempts: 1 },
};
/** Somebody waits for what was accepted, so a worker that was killed must not cost it a round. */
const ONCE_MORE: ActivityOptions = { ...ONCE, retry: { initialInterval: '1s', maximumAttempts: 2 } };

export const LIMITS: Record<Chore, ActivityOptions> = {
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
