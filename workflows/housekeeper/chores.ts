/**
 * The chores of housekeeping: each is an activity, independent of the others. Append new ones behind `patched()`: an
 * execution of the workflow is always under way, and it replays with the chores that it began with.
 */
export const CHORES = [
  'startRuns',
  'startProjects',
  'startWebhooks',
  'startOutputs',
  'startWorkspaces',
  'settleRuns',
  'settleProjects',
  'settleWorkspaces',
  'followRows',
  'tellSubmissions',
  'tellRouter',
  'tellPauses',
  'foldTallies',
  'releaseForgotten',
  'sweepTexts',
] as const;
export type Chore = (typeof CHORES)[number];
