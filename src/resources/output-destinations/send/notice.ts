/**
 * What a destination is told of a wait: that it was opened, is reminded of, has escalated, was settled. It says what is asked
 * and where it is answered, and nothing of what was made.
 */
import type { GuardedFetch } from '../../../platform/egress/egress.ts';
import type { Mailer } from '../../../platform/mail/mailer.ts';
import type { DestinationTarget } from '../contract.ts';
import { WAIT_EVENTS, type NoticeKind } from '../model.ts';
import { sendMail } from './email.ts';
import { OutputError } from './output.ts';
import { escaped, postToSlack, section } from './slack.ts';
import { postSigned, type Sign } from './webhook.ts';

export interface Notice {
  /** It is the same for every attempt and redelivery, so that a receiver can tell a repeat. */
  deliveryId: string;
  what: NoticeKind;
  /** Which reminder it is, counted from one; of openings the revision. */
  nth: number;
  /** Which was told of; an answer is bound to it. */
  revision: number;
  wait: ToldWait;
  /** Where it is answered: of a mail the recipient's own link, where they can answer by one. */
  url: string;
  isOwnLink: boolean;
}

export interface ToldWait {
  id: string;
  kind: string;
  /** In a line. */
  title: string;
  status: 'open' | 'settled';
  projectId: string | null;
  projectTitle: string | null;
  workflowSlug: string | null;
  phaseSlug: string | null;
  stepSlug: string | null;
  runId: string | null;
  /** Times are ISO 8601. */
  openedAt: string;
  dueAt: string | null;
  settledAt: string | null;
  answer: string | null;
  settledBy: string | null;
}

/** What a delivery tells of: the inbox reads it, when it is sent. */
export interface NoticeReader {
  /** @param told.recipient of a mail: the link is theirs @returns undefined where the wait is gone */
  read(told: {
    customerId: string;
    waitId: string;
    revision: number;
    recipient: string | null;
  }): Promise<Pick<Notice, 'wait' | 'url' | 'isOwnLink'> | undefined>;
}

const HEADINGS: Readonly<Record<NoticeKind, string>> = {
  opened: 'Waits for an answer',
  reminder: 'Still waits for an answer',
  escalated: 'Overdue, and waits for an answer',
  settled: 'Answered',
};

/** One that was settled before it was told of is told of as settled: nobody is to decide twice. */
const headingOf = ({ what, wait: { status, answer } }: Notice): string => {
  if (status === 'open') return HEADINGS[what];
  return answer === null ? 'Waits no more' : HEADINGS.settled;
};

const placeOf = ({ projectTitle, phaseSlug, stepSlug, runId }: ToldWait): string =>
  [projectTitle ?? (runId && `run ${runId}`), phaseSlug, stepSlug].filter(Boolean).join(' / ');

const outcomeOf = ({ answer, settledBy }: ToldWait): string =>
  answer === null ? 'What it was about moved on.' : `${answer}, by ${settledBy}`;

export interface NoticeDependencies {
  fetch: GuardedFetch;
  mailer: Mailer | undefined;
  sign: Sign;
}

/** @throws OutputError */
export async function sendNotice(
  deps: NoticeDependencies,
  target: DestinationTarget,
  notice: Notice,
  signal?: AbortSignal,
): Promise<void> {
  switch (target.kind) {
    case 'webhook':
      return toWebhook(deps, target.config, notice, signal);
    case 'slack':
      return toSlack(deps, target.config, notice, signal);
    case 'email':
      return byMail(deps, target.config.to, notice);
    case 's3':
      throw new OutputError('storage is told of nothing', { isFinal: true });
  }
}

const toWebhook = (
  deps: NoticeDependencies,
  config: Extract<DestinationTarget, { kind: 'webhook' }>['config'],
  { deliveryId, what, nth, revision, wait, url }: Notice,
  signal?: AbortSignal,
): Promise<void> => {
  const data = {
    wait_id: wait.id,
    revision,
    nth,
    kind: wait.kind,
    title: wait.title,
    status: wait.status,
    project_id: wait.projectId,
    project_title: wait.projectTitle,
    workflow_slug: wait.workflowSlug,
    phase_slug: wait.phaseSlug,
    step_slug: wait.stepSlug,
    run_id: wait.runId,
    opened_at: wait.openedAt,
    due_at: wait.dueAt,
    settled_at: wait.settledAt,
    answer: wait.answer,
    settled_by: wait.settledBy,
    url,
  };
  return postSigned(deps, config, { event: WAIT_EVENTS[what], deliveryId, data }, signal);
};

const toSlack = (
  { fetch }: NoticeDependencies,
  config: Extract<DestinationTarget, { kind: 'slack' }>['config'],
  notice: Notice,
  signal?: AbortSignal,
): Promise<void> => {
  const { wait } = notice;
  const heading = `${headingOf(notice)}: ${escaped(wait.title)}`;
  const lines = [
    escaped(placeOf(wait)),
    wait.status === 'settled' ? escaped(outcomeOf(wait)) : wait.dueAt && `due ${wait.dueAt}`,
  ].filter(Boolean);
  const button = {
    type: 'button',
    text: { type: 'plain_text', text: wait.status === 'open' ? 'Look and answer' : 'Look' },
    url: notice.url,
  };
  const blocks = [section(`*${heading}*\n${lines.join('\n')}`), { type: 'actions', elements: [button] }];
  return postToSlack(fetch, config, { text: heading, blocks }, signal);
};

const byMail = ({ mailer }: NoticeDependencies, to: readonly string[], notice: Notice): Promise<void> => {
  const { deliveryId, wait, url, isOwnLink } = notice;
  const subject = `${headingOf(notice)}: ${wait.title}`;
  const text = [
    subject,
    placeOf(wait),
    ...(wait.status === 'settled' ? [outcomeOf(wait)] : []),
    ...(wait.status === 'open' && wait.dueAt !== null ? [`Due: ${wait.dueAt}`] : []),
    wait.status === 'open' ? `Look, and answer: ${url}` : `Look: ${url}`,
    ...(isOwnLink ? ['The link is yours alone: whoever has it answers in your name.'] : []),
  ];
  return sendMail(mailer, deliveryId, { to, subject, text: text.filter(Boolean).join('\n\n') });
};
