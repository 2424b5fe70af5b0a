/** What there is to be done at each tick, everything for itself. */
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
] as const;
export type Chore = (typeof CHORES)[number];
