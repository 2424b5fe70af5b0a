/** Declares the HTTP contract of the inbox: everything that waits for somebody outside, and the answers to it. */
import { z } from 'zod';
import { endpoint, NO_CONTENT } from '../../platform/http/endpoint.ts';
import { limit, Timestamp, Usd, UsdText } from '../../platform/http/schemas.ts';
import { GatePolicy } from '../templates/gates/contract.ts';
import { GATE_KINDS } from '../templates/model.ts';
import { PAUSE_REASONS, WAYS } from '../projects/model.ts';
import { StoppingLimit } from '../projects/stops/contract.ts';
import { ANSWERS, WAIT_KINDS } from './model.ts';

const WaitPath = z.object({ wait_id: z.string() });

const Said = {
  answer: z.string().describe('`approve`, `reject`, ...'),
  comment: z.string().nullable(),
};

const Vote = z.object({ ...Said, by: z.string(), via: z.enum(WAYS), at: Timestamp }).meta({ id: 'WaitVote' });

const wait = {
  id: z.uuid(),
  kind: z.enum(WAIT_KINDS),
  status: z.enum(['open', 'settled']),
  revision: z.int().min(1).describe('Changes with what an answer is about. An answer names the one that was seen'),
  title: z.string().describe('What is asked, in a line'),
  answers: z.array(z.enum(ANSWERS)).describe('What it can be answered with, the most likely first; none once settled'),
  project_id: z.string().nullable(),
  project_title: z.string().nullable(),
  workflow_slug: z.string().nullable(),
  task_id: z.uuid().nullable(),
  phase_slug: z.string().nullable(),
  subtask_id: z.uuid().nullable(),
  step_slug: z.string().nullable(),
  gate_kind: z.enum(GATE_KINDS).nullable(),
  pause_reason: z.enum(PAUSE_REASONS).nullable(),
  run_id: z.string().nullable(),
  agent: z.string().nullable().describe('Whose question it is'),
  opened_at: Timestamp,
  policy: GatePolicy.nullable().describe(
    'Of a gate: who decides and when; null: anybody of the workspace, at any time',
  ),
  may_answer: z.boolean().describe('Whether the caller is among those whose answers count'),
  approvals: z.int().describe('So far, of this revision; `policy.quorum` says how many it takes'),
  due_at: Timestamp.nullable(),
  overdue: z.boolean(),
  reminders: z.int().describe('How many there were, by time and by hand'),
  escalated_at: Timestamp.nullable().describe('Since then `policy.escalate_to` may answer too'),
  expires_at: Timestamp.nullable().describe('From then on it takes no answer'),
  settled_at: Timestamp.nullable(),
  settled_by: z.string().nullable().describe('Null of one that was closed without an answer: its subject moved on'),
  settled_via: z.enum(WAYS).nullable(),
  answer: z.string().nullable(),
  comment: z.string().nullable(),
};

const Wait = z.object(wait).meta({ id: 'Wait' });
export type WaitRow = z.input<typeof Wait>;

const Choice = z
  .object({
    answer: z.enum(ANSWERS),
    then: z.string().describe('What goes on after it, in a sentence'),
    takes: z
      .array(z.enum(['comment', 'data', 'raise_by_usd']))
      .describe('What goes with it in the request; `data` and `raise_by_usd` must'),
    cost_estimate_usd: Usd.nullable().describe('By what the same work cost before; null: nothing is known'),
    at_least_usd: Usd.nullable().describe('With `raise_budget`: less would let nothing go on, and is refused'),
    refused: z.string().nullable().describe('Why this answer of the caller would be refused now; null: it would not'),
  })
  .meta({ id: 'WaitChoice' });
export type Choice = z.input<typeof Choice>;

const WaitDetail = z
  .object({
    ...wait,
    prompt: z.string().nullable().describe('What is asked, whole'),
    choices: z.array(Choice).describe('What it can be answered with; none once settled'),
    on_timeout: z.string().nullable().describe('What happens when nobody answers until `due_at`'),
    votes: z.array(Vote).describe('What was said to this revision so far'),
    delegations: z
      .array(z.object({ from: z.string(), to: z.string(), until: Timestamp, at: Timestamp }))
      .describe('Whose answers count in the place of whose, and until when'),
    artifacts: z
      .array(
        z.object({
          id: z.uuid(),
          phase_slug: z.string(),
          version: z.int(),
          schema_slug: z.string(),
          stale: z.boolean().describe('What it was made from has changed since'),
          created_at: Timestamp,
        }),
      )
      .describe('The versions that a decision is about'),
    work: z
      .array(
        z.object({
          subtask_id: z.uuid(),
          step_slug: z.string(),
          role: z.string(),
          attempt_id: z.uuid(),
          attempt_number: z.int(),
          output: z.unknown().describe('Of the last attempt that succeeded; long texts are cut'),
          is_cut: z.boolean(),
        }),
      )
      .describe('What the steps before it in its phase made, which is no artifact yet'),
    reviews: z
      .array(
        z.object({
          step_slug: z.string(),
          role: z.string(),
          by: z.string().nullable(),
          feedback: z.string(),
          at: Timestamp,
        }),
      )
      .describe('What reviewers, testers and gates of its phase objected to, newest first'),
    decisions: z
      .array(z.object({ ...Said, revision: z.int(), by: z.string(), via: z.enum(WAYS), at: Timestamp }))
      .describe('How the same was answered before, newest first'),
    plan: z.record(z.string(), z.unknown()).nullable().describe('Of a plan: what the planner proposes'),
    question: z
      .object({ question: z.string(), options: z.array(z.string()).nullable(), tool: z.string() })
      .nullable()
      .describe('Of a question: what the run asks'),
    failures: z
      .array(
        z.object({
          subtask_id: z.uuid(),
          phase_slug: z.string(),
          step_slug: z.string(),
          error: z.string().nullable(),
          outcome_unknown: z.boolean().describe('It may have done what must not be done twice'),
        }),
      )
      .describe('Of a project that paused itself: the steps that stopped it'),
    budgets: z
      .array(z.object({ of: z.string(), budget_usd: Usd, spent_usd: Usd }))
      .describe('Of a project that paused itself: `project`, and each phase that has a budget'),
    limits: z
      .array(StoppingLimit)
      .describe('Of a project that ran out of money: every limit that stops it now. `raise_budget` raises these'),
    awaits: z.string().nullable().describe('Of a webhook gate: which system is awaited'),
    effect: z
      .object({ tool: z.string(), arguments: z.record(z.string(), z.unknown()).nullable() })
      .nullable()
      .describe('Of a lost effect: the call of which nobody knows whether it took effect'),
  })
  .meta({ id: 'WaitDetail' });
export type WaitDetailRow = z.input<typeof WaitDetail>;

const SpendingNotice = z
  .object({
    topic: z.enum(['threshold', 'surge', 'unpriced']),
    title: z.string().describe('In a line'),
    cap_id: z.string().nullable().describe('Whose threshold it is: `workspace.month`'),
    threshold: z.int().nullable().describe('Percent of the limit'),
    run_id: z.string().nullable().describe('Whose call had no known price; of a surge the dearest'),
    at: Timestamp,
  })
  .meta({ id: 'SpendingNotice' });
export type SpendingNoticeRow = z.input<typeof SpendingNotice>;

const InboxQuery = z.object({
  status: z.enum(['open', 'settled']).default('open'),
  kind: z.enum(WAIT_KINDS).optional(),
  project_id: z.string().optional(),
  run_id: z.string().optional(),
  for: z.enum(['me']).optional().describe('`me`: only those that the caller may answer'),
  overdue: z.enum(['true', 'false']).optional().describe('`true`: only those that are past their time'),
  limit: limit(200, 50),
  cursor: z.string().max(200).optional().describe('`meta.next_cursor` of the page before'),
});
export type InboxQuery = z.output<typeof InboxQuery>;

export const listWaits = endpoint({
  id: 'inbox.list',
  path: '/v1/inbox',
  summary: 'List what waits for an answer, newest first',
  query: InboxQuery,
  badInput: 400,
  reply: z.object({
    data: z.array(Wait),
    meta: z.object({
      next_cursor: z.string().nullable(),
      open: z.int().describe('Of the whole workspace, whatever is listed'),
      overdue: z.int(),
      by_kind: z.array(z.object({ kind: z.enum(WAIT_KINDS), open: z.int() })),
      spending: z
        .array(SpendingNotice)
        .describe('What was told of spending and is still so, the newest first. Nothing of it waits for an answer'),
    }),
  }),
});

export const getWait = endpoint({
  id: 'inbox.get',
  path: '/v1/inbox/{wait_id}',
  summary: 'Everything that is needed to answer',
  params: WaitPath,
  badInput: 400,
  reply: WaitDetail,
  problems: ['not_found'],
});

const MAX_DATA_BYTES = 50 * 1_024;

const AnswerRequest = z
  .object(
    {
      answer: z.enum(ANSWERS, `answer must be one of ${ANSWERS.join(', ')}`),
      revision: z.int('revision must be that of the wait that was seen').min(1),
      comment: z
        .string()
        .trim()
        .max(10_000, 'comment too long (max 10000)')
        .nullish()
        .transform((said) => said || null),
      data: z
        .unknown()
        .optional()
        .refine(
          (data) => Buffer.byteLength(JSON.stringify(data ?? null)) <= MAX_DATA_BYTES,
          'data is too large (max 50 KB)',
        )
        .describe('With `submit`: what the page would send, a value of JSON; of a question {"answer": "..."}'),
      raise_by_usd: UsdText.optional().describe('With `raise_budget`: what is added to each of `limits`'),
    },
    'a JSON object required',
  )
  .meta({ id: 'WaitAnswer' });
export type AnswerRequest = z.output<typeof AnswerRequest>;

export const answerWait = endpoint({
  id: 'inbox.answer',
  path: '/v1/inbox/{wait_id}/answer',
  summary: 'Answer what waits, as it was seen',
  description:
    'An answer is bound to the `revision` that it names: what has changed since is refused with `changed_since`, what ' +
    'somebody has answered with `already_answered`, which says who, when and what. So no two answers have an effect. ' +
    'A gate that asks for several approvals stays open until there are enough; `votes` has what was counted so far. ' +
    '`raise_budget` raises every one of `limits`, or is refused and raises none: `admin_required` where one is a cap that ' +
    'the caller may not set, `insufficient_credit` where the wallet is empty, `nothing_to_raise` where none stops it any more.',
  idempotent: true,
  params: WaitPath,
  body: AnswerRequest,
  badInput: 400,
  reply: WaitDetail,
  problems: [
    'not_found',
    'not_an_approver',
    'four_eyes',
    'already_answered',
    'changed_since',
    'project_ended',
    'nothing_to_raise',
    'admin_required',
    'insufficient_credit',
    'runtime_unreachable',
  ],
});

export const remindOfWait = endpoint({
  id: 'inbox.remind',
  method: 'post',
  path: '/v1/inbox/{wait_id}/remind',
  summary: 'Remind those who can answer, at most every ten minutes',
  params: WaitPath,
  badInput: 400,
  reply: WaitDetail,
  problems: ['not_found', 'already_answered', 'changed_since', 'reminded_lately'],
});

const Delegation = z
  .object(
    {
      to: z.email('to must be the e-mail address of a member').max(254).toLowerCase(),
      until: z.iso
        .datetime({ offset: true, error: 'until must be a time, such as 2026-12-24T18:00:00Z' })
        .describe('In the future, at most a year'),
    },
    'a JSON object required',
  )
  .meta({ id: 'WaitDelegation' });
export type Delegation = z.output<typeof Delegation>;

export const delegateWait = endpoint({
  id: 'inbox.delegate',
  path: '/v1/inbox/{wait_id}/delegate',
  summary: 'Name a member whose answer counts in your place, until then',
  description:
    'Of a gate that names its `approvers`, and only by one of them. Both remain one when approvals are counted, and four ' +
    'eyes hold for both. Done again it names another; who stands in for somebody names nobody else.',
  params: WaitPath,
  body: Delegation,
  badInput: 400,
  reply: WaitDetail,
  problems: ['not_found', 'not_an_approver', 'four_eyes', 'already_answered', 'changed_since'],
});

export const withdrawLinks = endpoint({
  id: 'inbox.withdrawLinks',
  method: 'delete',
  path: '/v1/inbox/{wait_id}/links',
  summary: 'Withdraw every link by which it could be answered',
  params: WaitPath,
  badInput: 400,
  reply: NO_CONTENT,
  problems: ['not_found'],
});
