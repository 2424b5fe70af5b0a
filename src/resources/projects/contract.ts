/**
 * Declares the HTTP contract of projects: their shapes, how they are started and how they are changed. Reads and
 * commands are declared in the folders of these names. Validation, OpenAPI and handler types derive from these values.
 */
import { z } from 'zod';
import { endpoint } from '../../platform/http/endpoint.ts';
import { notBlank, Timestamp, Usd } from '../../platform/http/schemas.ts';
import { EFFORTS } from '../../platform/core/effort.ts';
import { IsPriced, IsSample } from '../runs/contract.ts';
import { CASCADE_MODES, GATE_KINDS, STEP_ROLES, STEP_KINDS } from '../templates/model.ts';
import {
  ATTEMPT_REASONS,
  ATTEMPT_STATUSES,
  PAUSE_REASONS,
  PROJECT_STATUSES,
  TASK_KINDS,
  TASK_STATUSES,
  MAX_NEW_FILES,
} from './model.ts';

/** An id in an address. One that has no valid form is simply unknown. */
const Id = z.string();
export const ProjectPath = z.object({ project_id: Id });
export const TaskPath = ProjectPath.extend({ task_id: Id });
export const ArtifactPath = ProjectPath.extend({ artifact_id: Id });
export const SubtaskPath = ProjectPath.extend({ subtask_id: Id });

const Content = z.unknown();
const Fields = z.record(z.string(), z.unknown());

export const Project = z
  .object({
    id: z.string(),
    title: z.string(),
    workflow_slug: z.string(),
    workflow_version: z.int(),
    status: z.enum(PROJECT_STATUSES),
    pause_reason: z.enum(PAUSE_REASONS).nullable(),
    has_stale_phases: z.boolean(),
    brief: z.string(),
    params: Fields.nullable(),
    owner_kind: z.literal('internal'),
    owner_id: z.string(),
    auth_mode: z.string().describe('How its owner signed in: `session` or `api_key`'),
    anthropic_workspace_id: z.string().nullable(),
    cost_budget_usd: Usd.nullable(),
    cost_warning_threshold: z.string().describe('Fraction of the budget'),
    cost_total_usd: Usd,
    is_priced: IsPriced,
    cost_burst_per_minute_usd: Usd.nullable(),
    sample: IsSample,
    created_at: Timestamp,
    started_at: Timestamp.nullable(),
    completed_at: Timestamp.nullable(),
    abandoned_at: Timestamp.nullable(),
  })
  .meta({ id: 'Project' });
export type ProjectRow = z.input<typeof Project>;

export const Task = z
  .object({
    id: z.uuid(),
    project_id: z.string(),
    phase_slug: z.string(),
    title: z.string(),
    status: z.enum(TASK_STATUSES),
    depends_on: z.array(z.string()).describe('Phase slugs'),
    task_kind: z.enum(TASK_KINDS),
    cascade_on_upstream_change: z.enum(CASCADE_MODES),
    cost_usd: Usd,
    is_priced: IsPriced,
    cost_budget_usd: Usd.nullable(),
    created_at: Timestamp,
    started_at: Timestamp.nullable(),
    completed_at: Timestamp.nullable(),
  })
  .meta({ id: 'Task' });
export type TaskRow = z.input<typeof Task>;

export const Subtask = z
  .object({
    id: z.uuid(),
    project_id: z.string(),
    task_id: z.uuid(),
    step_slug: z.string(),
    title: z.string(),
    kind: z.enum(STEP_KINDS),
    role: z.enum(STEP_ROLES),
    assignee: z.string().nullable(),
    status: z.enum(TASK_STATUSES),
    instructions: z.string().nullable(),
    tools: z.array(z.string()),
    skills: z.array(z.string()),
    depends_on: z.array(z.string()).describe('Step slugs of the same task'),
    output_schema: Fields.nullable(),
    effort: z.enum(EFFORTS).nullable(),
    max_attempts: z.int(),
    timeout_s: z.int().nullable(),
    gate_kind: z.enum(GATE_KINDS).nullable(),
    gate_config: Fields.nullable(),
    gate_output: Fields.nullable(),
    attempt_count: z.int(),
    cost_usd: Usd,
    is_priced: IsPriced,
    cost_budget_usd: z.null(),
    error: z.string().nullable(),
    created_at: Timestamp,
    started_at: Timestamp.nullable(),
    completed_at: Timestamp.nullable(),
  })
  .meta({ id: 'Subtask' });
export type SubtaskRow = z.input<typeof Subtask>;

export const Attempt = z
  .object({
    id: z.uuid(),
    project_id: z.string(),
    task_id: z.uuid(),
    subtask_id: z.uuid(),
    attempt_number: z.int(),
    attempt_reason: z.enum(ATTEMPT_REASONS),
    status: z.enum(ATTEMPT_STATUSES),
    output: Content.describe('Text, or the value that the output schema asks for'),
    output_validated: z.boolean().nullable(),
    error: z.string().nullable(),
    cost_usd: Usd,
    is_priced: IsPriced,
    duration_ms: z.int().nullable(),
    child_run_id: z.string().nullable(),
    created_at: Timestamp,
    started_at: Timestamp.nullable(),
    completed_at: Timestamp.nullable(),
  })
  .meta({ id: 'Attempt' });
export type AttemptRow = z.input<typeof Attempt>;

export const Artifact = z
  .object({
    id: z.uuid(),
    project_id: z.string(),
    task_id: z.uuid(),
    phase_slug: z.string(),
    version: z.int(),
    schema_slug: z.string(),
    content: Content.describe('Text, or a JSON value'),
    produced_by_subtask_id: z.uuid().nullable(),
    produced_by_attempt_id: z.uuid().nullable(),
    produced_via: z.enum(ATTEMPT_REASONS),
    superseded: z.boolean(),
    supersedes_artifact_id: z.uuid().nullable(),
    superseded_by_artifact_id: z.uuid().nullable(),
    sample: IsSample,
    created_at: Timestamp,
  })
  .meta({ id: 'Artifact' });
export type ArtifactRow = z.input<typeof Artifact>;

const PublicProject = z
  .object({
    project_id: z.string(),
    title: z.string(),
    workflow_slug: z.string(),
    workflow_version: z.int(),
    status: z.enum(PROJECT_STATUSES),
    phases: z.array(z.object({ phase_slug: z.string(), status: z.enum(TASK_STATUSES) })),
    cost_total_usd: Usd,
    is_priced: IsPriced,
    started_at: Timestamp.nullable(),
    completed_at: Timestamp.nullable(),
    sample: IsSample,
  })
  .meta({ id: 'ProjectStatus' });

// ---- What a caller may say -------------------------------------------------------------------------------------------

const MAX_BRIEF_LENGTH = 50_000;
const MAX_PARAMS_BYTES = 64 * 1024;
const NOT_AN_AMOUNT = 'cost_budget_usd must be an amount in US dollars above 0, at most 1000000000 with 8 decimals';

const AMOUNT = /^\d{1,10}(\.\d{1,8})?$/;
const isAmount = (usd: string): boolean =>
  AMOUNT.test(usd) && Number(usd) > 0 && (Number(usd) < 1e9 || /^0*10{9}(\.0*)?$/.test(usd));

/** An amount as a decimal string or a number. A number with more decimals than Postgres keeps is refused. */
const Amount = z
  .union([z.string().regex(AMOUNT, NOT_AN_AMOUNT), z.number().positive(NOT_AN_AMOUNT)], NOT_AN_AMOUNT)
  .transform((amount) =>
    typeof amount === 'string' || Number(amount.toFixed(8)) !== amount ? String(amount) : amount.toFixed(8),
  )
  .refine(isAmount, NOT_AN_AMOUNT);

const Title = z.string('title required').trim().min(1, 'title required').max(200, 'title too long (max 200)');

const Params = Fields.refine(
  (params) => Buffer.byteLength(JSON.stringify(params)) <= MAX_PARAMS_BYTES,
  'params too large (max 64 KB)',
);

const ProjectRequest = z.object(
  {
    workflow_slug: z.string('workflow_slug required').trim().min(1, 'workflow_slug required').max(200),
    brief: notBlank(
      z.string('brief required').max(MAX_BRIEF_LENGTH, `brief too long (max ${MAX_BRIEF_LENGTH})`),
      'brief required',
    ),
    title: Title.nullish().describe('The first line of the brief, where it is not given'),
    workflow_version: z
      .int('workflow_version must be a whole number')
      .min(1, 'workflow_version must be 1 or more')
      .nullish()
      .describe('An active version; the latest one, where it is not given'),
    cost_budget_usd: Amount.nullish().describe('Hard cap on what the project may spend'),
    params: Params.nullish().describe("As the workflow's params schema asks for"),
  },
  'a JSON object required',
);
export type ProjectRequest = z.output<typeof ProjectRequest>;

const ProjectPatch = z
  .object({
    title: Title.optional(),
    cost_budget_usd: Amount.nullable().optional().describe('Null clears the cap'),
    phase_cost_budgets: z
      .record(z.string(), Amount.nullable())
      .refine((budgets) => Object.keys(budgets).length > 0, 'phase_cost_budgets names no phase')
      .meta({ minProperties: 1 })
      .optional()
      .describe('By phase slug, each for one start of its phase; null clears it. Resume goes on after a breach'),
  })
  .refine(
    (patch) => Object.keys(patch).length > 0,
    'nothing to update: give title, cost_budget_usd or phase_cost_budgets',
  )
  .meta({ id: 'ProjectPatch', minProperties: 1 });
export type ProjectPatch = z.output<typeof ProjectPatch>;

// ---- Public API ------------------------------------------------------------------------------------------------------

const CREATE_PROBLEMS = ['runtime_unreachable'] as const;

export const startProject = endpoint({
  id: 'projects.start',
  surface: 'public',
  path: '/v1/projects',
  audited: false,
  idempotent: true,
  summary: 'Start a project from a workflow',
  description: 'Answers as soon as the project is planned and recorded. Retrying the call makes a second project.',
  body: ProjectRequest.meta({ id: 'ProjectRequest' }),
  badInput: 400,
  status: 201,
  reply: z.object({ project_id: z.string(), status: z.enum(PROJECT_STATUSES) }).meta({ id: 'ProjectAccepted' }),
  problems: CREATE_PROBLEMS,
});

export const getProjectStatus = endpoint({
  id: 'projects.status',
  surface: 'public',
  path: '/v1/projects/{project_id}',
  summary: 'Status of a project and its phases',
  params: ProjectPath,
  badInput: 400,
  reply: PublicProject,
  problems: ['not_found'],
});

// ---- Control plane ---------------------------------------------------------------------------------------------------

const NewProjectRequest = ProjectRequest.extend({
  title: Title,
  attachment_ids: z
    .array(z.uuid('attachment_ids must be ids'))
    .max(MAX_NEW_FILES, `too many attachments (max ${MAX_NEW_FILES})`)
    .optional()
    .describe('Of files that were uploaded for it (`attachments.prepare`): beside it before its first step begins'),
});
export type NewProjectRequest = z.output<typeof NewProjectRequest>;

export const createProject = endpoint({
  id: 'projects.create',
  path: '/v1/projects',
  audited: false,
  idempotent: true,
  summary: 'Start a project; it is answered fully planned',
  body: NewProjectRequest.meta({ id: 'NewProject' }),
  badInput: 400,
  status: 201,
  reply: Project,
  problems: CREATE_PROBLEMS,
});

export const updateProject = endpoint({
  id: 'projects.update',
  method: 'patch',
  path: '/v1/projects/{project_id}',
  audited: false,
  summary: 'Change the title or the budget; everything else is immutable',
  params: ProjectPath,
  body: ProjectPatch,
  badInput: 400,
  reply: Project,
  problems: ['not_found'],
});
