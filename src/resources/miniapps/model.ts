/** Words and limits of miniapps: pages that tools open for people. Pure. */

/** The tool whose page is a question of its own run, and closes with it. */
export const ASK_HUMAN = 'ask_human';

const HOUR_MS = 3_600_000;
/** How long a page takes a submission; also the longest wait for one. */
export const PAGE_TTL_MS = 7 * 24 * HOUR_MS;
export const MAX_WAIT_S = PAGE_TTL_MS / 1_000;
export const DEFAULT_WAIT_S = (24 * HOUR_MS) / 1_000;

/** Of a submission, as JSON. Below what a model is given of a result. */
export const MAX_SUBMISSION = '50kb';
/** Characters of a page. */
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

/** What the model is told of it. */
export const answerOf = (pageId: string, { data, submittedAt }: Submission) => ({
  page_id: pageId,
  submitted_at: submittedAt.toISOString(),
  data,
});
