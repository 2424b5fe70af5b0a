/** Each tick does these, each independently of the others. */
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
