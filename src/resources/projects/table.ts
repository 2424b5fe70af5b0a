/**
 * The record of projects. Rows are inserted by the service when a project is accepted and from then on written by
 * activities alone, each write conditional on the state it moves on from. What must never be broken is a constraint:
 * one current artifact a phase, one open attempt a step, one row a dispatch.
 */
import { sql } from 'drizzle-orm';
import {
  bigserial,
  boolean,
  check,
  index,
  integer,
  jsonb,
  pgEnum,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { createdAt, instant, startDue, usd } from '../../platform/db/columns.ts';
import { CASCADE_MODES, GATE_KINDS, STEP_ROLES, STEP_KINDS, type JsonSchema } from '../templates/model.ts';
import { workspaces } from '../workspaces/table.ts';
import {
  ATTEMPT_REASONS,
  ATTEMPT_STATUSES,
  PAUSE_REASONS,
  PROJECT_STATUSES,
  TASK_KINDS,
  TASK_STATUSES,
  type Cascade,
  type CommandTexts,
  type Consumed,
} from './model.ts';

export const projectStatus = pgEnum('project_status', PROJECT_STATUSES);
export const pauseReason = pgEnum('pause_reason', PAUSE_REASONS);
export const taskStatus = pgEnum('task_status', TASK_STATUSES);
export const taskKind = pgEnum('task_kind', TASK_KINDS);
export const cascadeMode = pgEnum('cascade_mode', CASCADE_MODES);
export const stepKind = pgEnum('step_kind', STEP_KINDS);
export const stepRole = pgEnum('step_role', STEP_ROLES);
export const gateKind = pgEnum('gate_kind', GATE_KINDS);
export const attemptStatus = pgEnum('attempt_status', ATTEMPT_STATUSES);
export const attemptReason = pgEnum('attempt_reason', ATTEMPT_REASONS);

export const projects = pgTable(
  'projects',
  {
    /** Slug of the title that it was given, else of its workflow, and six hex digits; the Temporal workflow id is `project-<id>`. */
    id: text('id').primaryKey(),
    /** Order of acceptance. */
    seq: bigserial('seq', { mode: 'number' }).notNull(),
    customerId: text('customer_id')
      .notNull()
      .references(() => workspaces.customerId),
    title: text('title').notNull(),
    /** Its owner named it; otherwise the title is the beginning of the brief, which is nobody's to read but the workspace's. */
    isTitled: boolean('is_titled').notNull().default(true),
    workflowSlug: text('workflow_slug').notNull(),
    workflowVersion: integer('workflow_version').notNull(),
    status: projectStatus('status').notNull().default('planning'),
    pauseReason: pauseReason('pause_reason'),
    brief: text('brief').notNull(),
    params: jsonb('params').$type<Record<string, unknown>>(),
    /** How its owner signed in: `session` or `api_key`. */
    authMode: text('auth_mode').notNull(),
    /** An e-mail address, or `api-key:<id>`; null of those of earlier releases. */
    startedBy: text('started_by'),
    /** Null: no cap. The budget row `project:<id>` has it too, with what was spent. */
    costBudgetUsd: usd('cost_budget_usd'),
    /** Fraction of the budget. */
    costWarningThreshold: usd('cost_warning_threshold').notNull().default('0.80'),
    /** The warning was given; a raised budget takes it back. */
    isCostWarned: boolean('is_cost_warned').notNull().default(false),
    costBurstPerMinuteUsd: usd('cost_burst_per_minute_usd'),
    /** Times it was completed: a retriggered project completes again, with another webhook. */
    completions: integer('completions').notNull().default(0),
    /** When housekeeping starts its workflow; null once Temporal has it. */
    startDueAt: startDue('start_due_at'),
    /** When Temporal was last asked whether it still has it. */
    checkedAt: instant('checked_at').notNull().defaultNow(),
    createdAt: createdAt(),
    startedAt: instant('started_at'),
    completedAt: instant('completed_at'),
    abandonedAt: instant('abandoned_at'),
  },
  (t) => [
    // Newest first: read backwards they serve `order by seq desc`, the others with their filter.
    index('projects_by_workspace').on(t.customerId, t.seq),
    index('projects_by_status').on(t.customerId, t.status, t.seq),
    index('projects_by_template').on(t.customerId, t.workflowSlug, t.seq),
    // Housekeeping, workspace by workspace: accepted, and not known to be started.
    index('projects_unstarted')
      .on(t.customerId, t.startDueAt)
      .where(sql`${t.status} = 'planning' and ${t.startDueAt} is not null`),
    // Housekeeping, workspace by workspace: under way, the longest unasked for first.
    index('projects_under_way')
      .on(t.customerId, t.checkedAt)
      .where(sql`${t.status} in ('planning', 'active')`),
    check('projects_paused_for_a_reason', sql`(${t.pauseReason} is not null) = (${t.status} = 'paused')`),
    check('projects_abandoned_once', sql`(${t.abandonedAt} is not null) = (${t.status} = 'abandoned')`),
    check('projects_completed_has_an_end', sql`${t.status} <> 'completed' or ${t.completedAt} is not null`),
  ],
);

/** One phase of a project, or one edit session. */
export const tasks = pgTable(
  'tasks',
  {
    id: uuid('id').primaryKey(),
    projectId: text('project_id')
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    customerId: text('customer_id').notNull(),
    /** An order in which no phase stands before one it depends on. */
    position: integer('position').notNull(),
    phaseSlug: text('phase_slug').notNull(),
    title: text('title').notNull(),
    taskKind: taskKind('task_kind').notNull().default('regular'),
    status: taskStatus('status').notNull().default('pending'),
    /** Phase slugs. */
    dependsOn: text('depends_on').array().notNull().default([]),
    cascadeOnUpstreamChange: cascadeMode('cascade_on_upstream_change').notNull().default('lazy'),
    artifactSchemaSlug: text('artifact_schema_slug'),
    artifactJsonSchema: jsonb('artifact_json_schema').$type<JsonSchema>(),
    /** The step whose output is promoted. */
    artifactStepSlug: text('artifact_step_slug'),
    /** How often it was started; a write in the name of an earlier start is refused. */
    iteration: integer('iteration').notNull().default(0),
    /** The reason of the first attempts of the next start. */
    nextReason: attemptReason('next_reason').notNull().default('initial'),
    /** Instructions that retriggers and edit sessions added, oldest first. */
    addenda: text('addenda').array().notNull().default([]),
    /** A strict change came while it ran: should it end on outdated versions, it runs again. `stale` is of old releases. */
    onEnd: text('on_end').$type<'stale' | 'rerun'>(),
    /** Slugs of phases whose changes were to leave it as it is, since it began anew. */
    spared: text('spared').array().notNull().default([]),
    costBudgetUsd: usd('cost_budget_usd'),
    /** Of an edit session: what was asked for, and how its changes cascade. */
    instruction: text('instruction'),
    cascadeMode: text('cascade_mode').$type<Cascade>(),
    createdAt: createdAt(),
    startedAt: instant('started_at'),
    completedAt: instant('completed_at'),
  },
  (t) => [
    uniqueIndex('tasks_once_per_phase').on(t.projectId, t.phaseSlug),
    // Pipeline order.
    index('tasks_by_project').on(t.projectId, t.position),
  ],
);

/** One step of a task. */
export const subtasks = pgTable(
  'subtasks',
  {
    id: uuid('id').primaryKey(),
    projectId: text('project_id')
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    taskId: uuid('task_id')
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    customerId: text('customer_id').notNull(),
    position: integer('position').notNull(),
    stepSlug: text('step_slug').notNull(),
    title: text('title').notNull(),
    kind: stepKind('kind').notNull(),
    role: stepRole('role').notNull(),
    status: taskStatus('status').notNull().default('pending'),
    assignee: text('assignee'),
    instructions: text('instructions'),
    tools: text('tools').array().notNull().default([]),
    skills: text('skills').array().notNull().default([]),
    /** Step slugs of the same task. */
    dependsOn: text('depends_on').array().notNull().default([]),
    outputSchema: jsonb('output_schema').$type<JsonSchema>(),
    maxAttempts: integer('max_attempts').notNull(),
    /** Seconds. */
    timeoutS: integer('timeout_s'),
    gateKind: gateKind('gate_kind'),
    gateConfig: jsonb('gate_config').$type<Record<string, unknown>>(),
    /** Of a gate: the decision, by whom, with comment and payload. */
    gateOutput: jsonb('gate_output').$type<Record<string, unknown>>(),
    /** What reviewers, testers and gates said of its latest output; the next attempt is told. */
    feedback: text('feedback').array().notNull().default([]),
    /** What a manual retry adds to the prompt. */
    addendum: text('addendum'),
    /** The reason of the next attempt. Null: that of its task. */
    nextReason: attemptReason('next_reason'),
    /** Attempts that count against `max_attempts`, since the last start of the phase or retry by hand. */
    attemptsUsed: integer('attempts_used').notNull().default(0),
    /** Times it died without an outcome, since then. */
    crashes: integer('crashes').notNull().default(0),
    /** Of a gate: times in a row that nobody answered it in its time. */
    expiries: integer('expiries').notNull().default(0),
    /** An irreversible effect whose outcome nobody knows: only a person may go on. */
    isOutcomeUnknown: boolean('is_outcome_unknown').notNull().default(false),
    error: text('error'),
    createdAt: createdAt(),
    startedAt: instant('started_at'),
    completedAt: instant('completed_at'),
  },
  (t) => [
    uniqueIndex('subtasks_once_per_step').on(t.taskId, t.stepSlug),
    index('subtasks_by_task').on(t.taskId, t.position),
    index('subtasks_by_project').on(t.projectId),
    // The list of webhook gates, read backwards, of all and of one status; and who waits for another project.
    index('subtasks_webhook_gates')
      .on(t.customerId, sql`(status = 'blocked')`, sql`coalesce(completed_at, started_at, created_at)`, t.id)
      .where(sql`${t.gateKind} = 'webhook'`),
    index('subtasks_webhook_gates_by_status')
      .on(t.customerId, t.status, sql`coalesce(completed_at, started_at, created_at)`, t.id)
      .where(sql`${t.gateKind} = 'webhook'`),
    index('subtasks_waiting_for_projects')
      .on(t.customerId, sql`(gate_config ->> 'project_id')`)
      .where(sql`${t.gateKind} = 'pipeline_dep' and ${t.status} = 'blocked'`),
  ],
);

export const attempts = pgTable(
  'attempts',
  {
    id: uuid('id').primaryKey(),
    projectId: text('project_id')
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    taskId: uuid('task_id').notNull(),
    subtaskId: uuid('subtask_id')
      .notNull()
      .references(() => subtasks.id, { onDelete: 'cascade' }),
    customerId: text('customer_id').notNull(),
    attemptNumber: integer('attempt_number').notNull(),
    attemptReason: attemptReason('attempt_reason').notNull(),
    status: attemptStatus('status').notNull().default('running'),
    /** Names the dispatch: a repeated activity meets the attempt it made. Null while it is queued. */
    dispatchKey: text('dispatch_key'),
    /** Text, or the value that the step's schema asks for. */
    output: jsonb('output').$type<unknown>(),
    /** Against the step's schema; null where it has none. */
    outputValidated: boolean('output_validated'),
    error: text('error'),
    /** It died without an outcome. */
    isCrashed: boolean('is_crashed').notNull().default(false),
    /** Added to by each model call of its run and of the runs that one spawned. */
    costUsd: usd('cost_usd').notNull().default('0'),
    childRunId: text('child_run_id'),
    /** The artifacts it was given, by phase; null of one from before they were kept. */
    consumed: jsonb('consumed').$type<Consumed>(),
    createdAt: createdAt(),
    startedAt: instant('started_at'),
    completedAt: instant('completed_at'),
  },
  (t) => [
    uniqueIndex('attempts_numbered').on(t.subtaskId, t.attemptNumber),
    uniqueIndex('attempts_once_per_dispatch').on(t.subtaskId, t.dispatchKey),
    uniqueIndex('attempts_one_open_per_step')
      .on(t.subtaskId)
      .where(sql`${t.status} in ('pending', 'running')`),
    index('attempts_by_project').on(t.projectId),
    index('attempts_by_task').on(t.taskId),
    check('attempts_ended_has_an_end', sql`(${t.completedAt} is not null) = (${t.status} in ('succeeded', 'failed'))`),
  ],
);

/** Append-only versions of what each phase made. */
export const artifacts = pgTable(
  'artifacts',
  {
    id: uuid('id').primaryKey(),
    projectId: text('project_id')
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    taskId: uuid('task_id')
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    customerId: text('customer_id').notNull(),
    phaseSlug: text('phase_slug').notNull(),
    version: integer('version').notNull(),
    schemaSlug: text('schema_slug').notNull(),
    /** Text (Markdown, HTML, SVG), or a JSON value. */
    content: jsonb('content').$type<unknown>().notNull(),
    producedBySubtaskId: uuid('produced_by_subtask_id'),
    producedByAttemptId: uuid('produced_by_attempt_id'),
    producedVia: attemptReason('produced_via').notNull(),
    superseded: boolean('superseded').notNull().default(false),
    /** The version that was current when this one was made. */
    supersedesArtifactId: uuid('supersedes_artifact_id'),
    supersededByArtifactId: uuid('superseded_by_artifact_id'),
    createdAt: createdAt(),
  },
  (t) => [
    uniqueIndex('artifacts_numbered').on(t.taskId, t.version),
    uniqueIndex('artifacts_one_current_per_phase')
      .on(t.taskId)
      .where(sql`not ${t.superseded}`),
    uniqueIndex('artifacts_once_per_attempt')
      .on(t.producedByAttemptId)
      .where(sql`${t.producedByAttemptId} is not null and ${t.producedVia} <> 'edit_session'`),
    index('artifacts_by_project').on(t.projectId, t.createdAt),
  ],
);

/** What each command did, under its caller's id of it: one that is repeated after it committed answers the same. */
export const projectCommands = pgTable(
  'project_commands',
  {
    projectId: text('project_id')
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    commandId: text('command_id').notNull(),
    /** Texts that its caller gave: they are kept here, and never in a workflow's history. */
    args: jsonb('args').$type<CommandTexts>(),
    result: jsonb('result').$type<unknown>(),
    createdAt: createdAt(),
  },
  (t) => [primaryKey({ columns: [t.projectId, t.commandId] })],
);
