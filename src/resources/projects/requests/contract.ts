/**
 * Declares the HTTP contract of what can be done to a project. Each command is an update of the project's workflow, so
 * a read after the answer already shows its result.
 */
import { z } from 'zod';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { Usd } from '../../../platform/http/schemas.ts';
import { Artifact, Attempt, ProjectPath, Subtask, SubtaskPath, Task, TaskPath } from '../contract.ts';
import { ATTEMPT_REASONS, CASCADES, DECISIONS, PLAN_DECISIONS, TASK_STATUSES } from '../model.ts';
import { MAX_EDIT_ACTIONS, RISKS } from '../edit-plans/model.ts';

const PhasePath = ProjectPath.extend({ phase_slug: z.string() });

const MAX_TEXT_LENGTH = 10_000;
/** A text that a person may add. A blank text counts as none. */
const text = (name: string) =>
  z
    .string(`${name} must be a string`)
    .trim()
    .max(MAX_TEXT_LENGTH, `${name} too long (max ${MAX_TEXT_LENGTH})`)
    .nullish()
    .transform((said) => said || null);

const cascade = (name: string) => z.enum(CASCADES, `${name} must be one of ${CASCADES.join(', ')}`).default('lazy');

/** The use case checks the value, because its message names the word that was sent. */
const decision = (known: readonly string[]) => z.string('decision required').meta({ enum: [...known] });

const NO_OBJECT = 'a JSON object required';
const NOT_A_VERSION = 'target_version must be a whole number of 1 or more';
const MAX_PLAN_BYTES = 512 * 1024;

const RetriggerRequest = z
  .object({ addendum_brief: text('addendum_brief'), cascade: cascade('cascade') }, NO_OBJECT)
  .meta({ id: 'RetriggerRequest' });
export type RetriggerRequest = z.output<typeof RetriggerRequest>;

const RevertRequest = z
  .object(
    { target_version: z.int(NOT_A_VERSION).min(1, NOT_A_VERSION), cascade: cascade('cascade'), reason: text('reason') },
    NO_OBJECT,
  )
  .meta({ id: 'RevertRequest' });
export type RevertRequest = z.output<typeof RevertRequest>;

const GateRequest = z
  .object({ decision: decision(DECISIONS), comment: text('comment') }, NO_OBJECT)
  .meta({ id: 'GateRequest' });
export type GateRequest = z.output<typeof GateRequest>;

const EditSessionRequest = z
  .object(
    {
      instruction: z
        .string('instruction required')
        .trim()
        .min(1, 'instruction required')
        .max(MAX_TEXT_LENGTH, `instruction too long (max ${MAX_TEXT_LENGTH})`),
      cascade_mode: cascade('cascade_mode'),
    },
    NO_OBJECT,
  )
  .meta({ id: 'EditSessionRequest' });
export type EditSessionRequest = z.output<typeof EditSessionRequest>;

const aboutAction = {
  phase_slug: z.string().min(1).max(64),
  rationale: z.string().max(MAX_TEXT_LENGTH),
  estimated_cost_usd: z.number().min(0).max(1e9).optional(),
  risk: z.enum(RISKS).optional(),
};
/** A planner's plan may be sent back changed. Fields that an action of its kind does not use are dropped. */
const EditPlan = z
  .object({
    summary: z.string().max(MAX_TEXT_LENGTH),
    actions: z
      .array(
        z.discriminatedUnion('kind', [
          z
            .object({
              ...aboutAction,
              kind: z.literal('edit_artifact'),
              content: z
                .unknown()
                .refine((content) => content != null, 'must not be null')
                .describe('The new content, whole: a value of JSON'),
            })
            .meta({ id: 'EditArtifactAction' }),
          z.object({ ...aboutAction, kind: z.literal('retrigger') }).meta({ id: 'RetriggerAction' }),
          z
            .object({
              ...aboutAction,
              kind: z.literal('instruct'),
              instructions: z.string().min(1).max(MAX_TEXT_LENGTH),
            })
            .meta({ id: 'InstructAction' }),
        ]),
      )
      .min(1)
      .max(MAX_EDIT_ACTIONS),
  })
  .refine((plan) => Buffer.byteLength(JSON.stringify(plan)) <= MAX_PLAN_BYTES, 'is too large (max 512 KB)')
  .meta({ id: 'EditPlan' });

const PlanRequest = z
  .object(
    {
      decision: decision(PLAN_DECISIONS),
      revised_plan: EditPlan.nullish().describe('With edit_plan, and only with it'),
      comment: text('comment'),
    },
    NO_OBJECT,
  )
  .meta({ id: 'EditPlanDecision' });
export type PlanRequest = z.output<typeof PlanRequest>;

const Cascaded = {
  cascade: z.enum(CASCADES),
  affected_phase_slugs: z.array(z.string()),
  marked_stale: z.array(z.string()),
  auto_retriggered: z.array(z.string()),
};

const StepRan = z
  .object({
    subtask_id: z.uuid(),
    status: z.enum(TASK_STATUSES),
    attempt_number: z.int().nullable().describe('Null of a gate, which has no attempts'),
    attempt_reason: z.enum(ATTEMPT_REASONS).nullable(),
    output_validated: z.boolean().nullable(),
    error: z.string().nullable(),
    duration_ms: z.int().nullable(),
  })
  .meta({ id: 'StepRan' });
const NoStepRan = z.object({ ran_step: z.literal(false), message: z.string() }).meta({ id: 'NoStepRan' });

// ---- The whole project -----------------------------------------------------------------------------------------------

const COMMON = ['not_found', 'project_ended', 'runtime_unreachable'] as const;

export const pauseProject = endpoint({
  id: 'projects.pause',
  method: 'post',
  path: '/v1/projects/{project_id}/pause',
  audited: false,
  summary: 'Dispatch no further step; steps in flight finish and are kept',
  params: ProjectPath,
  badInput: 400,
  reply: z.object({ project_id: z.string(), status: z.literal('paused') }),
  problems: [...COMMON, 'project_not_active'],
});

export const resumeProject = endpoint({
  id: 'projects.resume',
  method: 'post',
  path: '/v1/projects/{project_id}/resume',
  audited: false,
  summary: 'Queue again what died, then go on',
  params: ProjectPath,
  badInput: 400,
  reply: z
    .object({
      crashed_attempts_recovered: z.int(),
      repeat_crash_failures: z.int(),
      nonidempotent_pauses: z.int(),
    })
    .meta({ id: 'RecoverySummary' }),
  problems: [...COMMON, 'project_not_paused'],
});

export const abandonProject = endpoint({
  id: 'projects.abandon',
  method: 'post',
  path: '/v1/projects/{project_id}/abandon',
  audited: false,
  summary: 'End a project for good; what is in flight is cancelled, artifacts are kept',
  params: ProjectPath,
  badInput: 400,
  reply: z.object({ project_id: z.string(), status: z.literal('abandoned') }),
  problems: COMMON,
});

export const runStep = endpoint({
  id: 'projects.runStep',
  method: 'post',
  path: '/v1/projects/{project_id}/run-step',
  audited: false,
  summary: 'Run the next step of a project that is not active',
  description: 'Answers when the step has ended. An active project dispatches its steps itself.',
  params: ProjectPath,
  badInput: 400,
  reply: z.union([StepRan, NoStepRan]),
  problems: COMMON,
});

// ---- Steps -----------------------------------------------------------------------------------------------------------

export const retrySubtask = endpoint({
  id: 'projects.retrySubtask',
  method: 'post',
  path: '/v1/projects/{project_id}/subtasks/{subtask_id}/retry',
  audited: false,
  summary: 'Queue another attempt of a failed step',
  description: 'Answers the queued attempt; of a gate, which has none, the step.',
  params: SubtaskPath,
  query: z.object({ addendum_brief: text('addendum_brief') }),
  badInput: 400,
  reply: z.union([Attempt, Subtask]),
  problems: [...COMMON, 'subtask_not_failed', 'attempt_queued'],
});

export const resolveGate = endpoint({
  id: 'projects.resolveGate',
  path: '/v1/projects/{project_id}/subtasks/{subtask_id}/resolve-gate',
  audited: false,
  idempotent: true,
  summary: 'Approve or reject a waiting human gate',
  params: SubtaskPath,
  body: GateRequest,
  badInput: 400,
  reply: Subtask,
  problems: [...COMMON, 'gate_not_waiting', 'not_an_approver', 'four_eyes'],
});

// ---- Phases ----------------------------------------------------------------------------------------------------------

export const retriggerPhase = endpoint({
  id: 'projects.retrigger',
  path: '/v1/projects/{project_id}/phases/{phase_slug}/retrigger',
  audited: false,
  summary: 'Run an ended phase again; downstream by the cascade',
  params: PhasePath,
  body: RetriggerRequest.prefault({}),
  badInput: 400,
  reply: z
    .object({ project_id: z.string(), phase_slug: z.string(), ...Cascaded, cost_estimate_usd: Usd })
    .meta({ id: 'Retriggered' }),
  problems: [...COMMON, 'phase_in_flight'],
});

export const revertArtifact = endpoint({
  id: 'projects.revertArtifact',
  path: '/v1/projects/{project_id}/phases/{phase_slug}/revert-artifact',
  audited: false,
  summary: 'Make an earlier version of an artifact the current one',
  params: PhasePath,
  body: RevertRequest,
  badInput: 400,
  reply: z.object({ artifact: Artifact, ...Cascaded }).meta({ id: 'Reverted' }),
  problems: [...COMMON, 'phase_in_flight', 'already_current'],
});

// ---- Edit sessions ---------------------------------------------------------------------------------------------------

export const startEditSession = endpoint({
  id: 'projects.startEditSession',
  path: '/v1/projects/{project_id}/edit-sessions',
  audited: false,
  summary: 'Have a planner propose changes, to be approved before they are made',
  params: ProjectPath,
  body: EditSessionRequest,
  badInput: 400,
  status: 201,
  reply: z
    .object({
      task_id: z.uuid(),
      planner_subtask_id: z.uuid(),
      gate_subtask_id: z.uuid(),
      enact_subtask_id: z.uuid(),
    })
    .meta({ id: 'EditSession' }),
  problems: COMMON,
});

export const resolveEditPlan = endpoint({
  id: 'projects.resolveEditPlan',
  path: '/v1/projects/{project_id}/edit-sessions/{task_id}/approve',
  audited: false,
  idempotent: true,
  summary: 'Decide on the plan of an edit session',
  params: TaskPath,
  body: PlanRequest,
  badInput: 400,
  reply: Task,
  problems: [...COMMON, 'gate_not_waiting'],
});
