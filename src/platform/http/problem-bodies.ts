/** What the bodies of problems look like in the OpenAPI documents. */
import { z } from 'zod';
import type { ProblemCode, StructuredCode } from '../core/problem.ts';

export const ProblemBody = z.object({ detail: z.string() }).meta({ id: 'Problem' });

/** These are the bodies of problems whose `detail` is more than a text. */
export const BODIES: Record<StructuredCode, z.ZodType[]> & Partial<Record<ProblemCode, z.ZodType[]>> = {
  // The control plane answers in the common form, the proxy before it in its own.
  auth_required: [ProblemBody, z.object({ error: z.literal('auth_required') }).meta({ id: 'NoSessionCookie' })],
  validation: [
    z
      .object({
        detail: z.array(
          z.object({
            loc: z
              .array(z.union([z.string(), z.int()]))
              .describe('`path`, `query` or `body`, then the way to the field'),
            msg: z.string(),
            type: z.string(),
          }),
        ),
      })
      .meta({ id: 'ValidationProblem' }),
  ],
  otp_required: [
    z
      .object({
        detail: z.object({
          otp_required: z.literal(true),
          challenge_id: z.string(),
          scope: z.string().describe('What the code confirms'),
          expires_at: z.number().describe('Unix seconds'),
          delivery: z.string().describe('`email:<masked address>`, or `log:<hint>` where there is no mail'),
        }),
      })
      .meta({ id: 'OtpProblem' }),
  ],
  plan_limit_exceeded: [
    z
      .object({
        detail: z.object({
          code: z.literal('plan_limit_exceeded'),
          resource: z.string(),
          current: z.int(),
          limit: z.int(),
          tier: z.string(),
        }),
      })
      .meta({ id: 'PlanLimitProblem' }),
  ],
  too_many_streams: [
    z
      .object({
        detail: z.object({
          code: z.literal('too_many_streams'),
          scope: z.enum(['workspace', 'process']).describe('What has as many open as it may'),
          limit: z.int(),
        }),
      })
      .meta({ id: 'StreamsProblem' }),
  ],
  destroy_failed: [
    z
      .object({
        detail: z.object({
          code: z.string().describe('Of the step, or `still_running`: then ask again to wait on'),
          message: z.string(),
        }),
      })
      .meta({ id: 'DestroyProblem' }),
  ],
  not_an_approver: [
    z
      .object({
        detail: z.object({
          code: z.literal('not_an_approver'),
          message: z.string(),
          approvers: z
            .record(z.string(), z.unknown())
            .nullable()
            .describe('Who can: `members`, `roles`, `emails`, `api_keys`, as the gate has it'),
          escalate_to: z.record(z.string(), z.unknown()).nullable().describe('Who can too once it is due'),
          can_answer: z
            .array(z.string())
            .optional()
            .describe('The first 20 people whose answer counts, or will once it is due. None: an owner may decide'),
        }),
      })
      .meta({ id: 'NotAnApproverProblem' }),
  ],
  in_use: [
    z
      .object({
        detail: z.object({
          code: z.literal('in_use'),
          message: z.string(),
          used_by: z.array(z.object({ kind: z.string(), name: z.string() })).describe('The first 20'),
          total: z.int(),
        }),
      })
      .meta({ id: 'InUseProblem' }),
  ],
  changed_since: [
    z
      .object({
        detail: z.object({
          code: z.literal('changed_since'),
          message: z.string(),
          wait_id: z.uuid().nullable().describe('What waits now; null: nothing, what it was about moved on'),
          revision: z.int().nullable().describe('Of that: look at it again, and answer with this'),
        }),
      })
      .meta({ id: 'ChangedSinceProblem' }),
  ],
  already_answered: [
    z
      .object({
        detail: z.object({
          code: z.literal('already_answered'),
          message: z.string(),
          answer: z.string(),
          answered_by: z.string().describe('An e-mail address, `api-key:<id>`, or what a system calls itself'),
          answered_at: z.iso.datetime(),
          answered_via: z.string(),
          comment: z.string().nullable(),
        }),
      })
      .meta({ id: 'AlreadyAnsweredProblem' }),
  ],
  // Only the sign-in answers with this one, and no document describes the sign-in.
  choose_workspace: [],
};
