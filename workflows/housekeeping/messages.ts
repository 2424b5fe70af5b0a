/**
 * Each tick does these, each independently of the others. One more changes what an execution that is under way does, and one always
 * is: the workflow begins it only where `patched()` says so, until no older execution can be there.
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
