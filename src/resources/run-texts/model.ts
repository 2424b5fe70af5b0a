/** Words of texts that are being written. */

/** How often a text is written and read while somebody watches it. */
export const TEXT_TICK_MS = 250;

/** A watch that is not renewed ends after this time. */
export const WATCH_MS = 12_000;
/** A watch is renewed this often. */
export const RENEW_MS = 4_000;

/** A text stays for so long after its call, for those who have not read its last words. */
export const LINGER_MS = 2_000;

/** @returns what is watched of a workspace: one run, what a project's runs write, or everything */
export const watchOf = (watched: { runId?: string | undefined; projectId?: string | undefined }): string =>
  watched.runId !== undefined
    ? `run:${watched.runId}`
    : watched.projectId !== undefined
      ? `project:${watched.projectId}`
      : '*';

/** @returns the watches that a run is watched by */
export const watchesOf = ({ runId, projectId }: { runId: string; projectId: string | null }): string[] => [
  '*',
  watchOf({ runId }),
  ...(projectId === null ? [] : [watchOf({ projectId })]),
];
