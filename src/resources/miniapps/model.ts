/** Words and limits of miniapps: pages that tools open for people. */

/** The page of this tool is a question of its own run, and closes with it. */
export const ASK_HUMAN = 'ask_human';

const HOUR_MS = 3_600_000;
/** A page takes a submission for this long, which is also the longest wait for one. */
export const PAGE_TTL_MS = 7 * 24 * HOUR_MS;
export const MAX_WAIT_S = PAGE_TTL_MS / 1_000;
export const DEFAULT_WAIT_S = (24 * HOUR_MS) / 1_000;

/** The limit of a submission as JSON; it lies below what a model is given of a result. */
export const MAX_SUBMISSION = '50kb';
/** A page has at most so many characters. */
export const MAX_HTML = 256 * 1_024;

export const MINIAPPS_PATH = '/miniapps';

/** A call that waits for a submission. */
export interface WaitingCall {
  customerId: string;
  runId: string;
  callId: string;
}

export const waitOf = ({ runId, callId }: WaitingCall): string => `${runId}/${callId}`;
export const runOfWait = (wait: string): string => wait.split('/')[0]!;

export interface Submission {
  data: unknown;
  submittedAt: Date;
}

/** @returns what the model is told of a submission */
export const answerOf = (pageId: string, { data, submittedAt }: Submission) => ({
  page_id: pageId,
  submitted_at: submittedAt.toISOString(),
  data,
});
