/** Words and rules of output destinations. The delivery workflow uses them too, so nothing here asks the world. */
export const DESTINATION_KINDS = ['webhook', 'slack', 'email', 's3'] as const;
export type DestinationKind = (typeof DESTINATION_KINDS)[number];

/**
 * - `pending`: waits for an attempt
 * - `delivered`: the destination took it
 * - `failed`: it refused it, or no attempts are left; `last_error` says why
 */
export const OUTPUT_DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const;

/** What is told of a wait. Opened again, it is another revision. */
export const NOTICE_KINDS = ['opened', 'reminder', 'escalated', 'settled'] as const;
export type NoticeKind = (typeof NOTICE_KINDS)[number];

/** An address that was asked whether it wants the mails of a destination answers one of these. */
export const RECIPIENT_ANSWERS = ['confirmed', 'refused'] as const;

/**
 * - `member`: of the workspace; nobody has to confirm what its own workspace makes
 * - `confirmed`, `refused`: as it answered
 * - `waiting`: it has not answered, and is sent nothing but the question
 */
export type RecipientState = 'member' | (typeof RECIPIENT_ANSWERS)[number] | 'waiting';
/** Says who is sent artifacts. */
export const IS_SENT_TO: Readonly<Record<RecipientState, boolean>> = {
  member: true,
  confirmed: true,
  refused: false,
  waiting: false,
};
export const RECIPIENT_STATES = Object.keys(IS_SENT_TO) as RecipientState[];

/** The link in a question can be used for this long. */
export const QUESTION_TTL_MS = 7 * 24 * 60 * 60_000;

/** The link in a question leads to this path of the gateway. */
export const QUESTION_PATH = '/outputs/confirm';

/** An address is mailed so many questions in a day, by one workspace and by all. */
export const MAX_QUESTIONS_A_WORKSPACE = 2;
export const MAX_QUESTIONS = 5;

/** These fields of a configuration are secrets: sealed in the row, and shown as `MASK`. */
export const SECRET_FIELDS: Readonly<Record<DestinationKind, readonly string[]>> = {
  webhook: ['secret'],
  slack: ['webhook_url'],
  email: [],
  s3: ['access_key_id', 'secret_access_key'],
};
export const MASK = '***';

/** The events of webhooks that tell of waits. */
export const WAIT_EVENTS = {
  opened: 'wait.opened',
  reminder: 'wait.reminder',
  escalated: 'wait.escalated',
  settled: 'wait.settled',
} as const satisfies Record<NoticeKind, string>;

/** A webhook that a destination is sent is of this event. */
export const ARTIFACT_FINISHED = 'artifact.finished';

/** An artifact may be so large as a file. */
export const MAX_OUTPUT_BYTES = 10 * 1024 * 1024;

/** One sending of a delivery; whoever asks for it again gets the next number. */
export interface OutputDeliveryRef {
  deliveryId: string;
  /** The first sending has 0. */
  redelivery: number;
}

export const outputWorkflowId = ({ deliveryId, redelivery }: OutputDeliveryRef): string =>
  redelivery === 0 ? `output-${deliveryId}` : `output-${deliveryId}-${redelivery}`;
