/** The service inserts rows when a project is accepted; then activities alone write them, each on a condition of its state. */
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
import { schemaJson } from '../../platform/db/property-order.ts';
import { EFFORTS } from '../../platform/core/effort.ts';
import { CASCADE_MODES, GATE_KINDS, STEP_ROLES, STEP_KINDS, type JsonSchema } from '../templates/model.ts';
import { workspaces } from '../workspaces/table.ts';
import {
  ATTEMPT_REASONS,
  ATTEMPT_STATUSES,
  PAUSE_REASONS,
  PROJECT_STATUSES,
  TASK_KINDS,
  TASK_STATUSES,
  type Actor,
  type Cascade,
  type CommandTexts,
  type Consumed,
  type Shown,
} from './model.ts';
import type { StepStop } from './stops/model.ts';

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
    /**
     * The slug of the title that the project was given, otherwise of its workflow, and six hex digits. The Temporal
     * workflow id is `project-<id>`.
     */
    id: text('id').primaryKey(),
    /** The order of acceptance. */
    seq: bigserial('seq', { mode: 'number' }).notNull(),
    customerId: text('customer_id')
      .notNull()
      .references(() => workspaces.customerId),
    title: text('title').notNull(),
    /** The owner gave the title; otherwise it is the beginning of the brief, which only the workspace may read. */
    isTitled: boolean('is_titled').notNull().default(true),
    workflowSlug: text('workflow_slug').notNull(),
    workflowVersion: integer('workflow_version').notNull(),
    status: projectStatus('status').notNull().default('planning'),
    pauseReason: pauseReason('pause_reason'),
    /** Since when it is paused for this reason. */
    pausedAt: instant('paused_at'),
    brief: text('brief').notNull(),
    params: jsonb('params').$type<Record<string, unknown>>(),
    /** How the caller signed in: `session` or `api_key`. */
    authMode: text('auth_mode').notNull(),
    /** An e-mail address, or `api-key:<id>`. */
    startedBy: text('started_by'),
    /** Started from a recorded sample, unchanged: without a model provider its steps are answered from the recording. */
    isSample: boolean('is_sample').notNull().default(false),
    /** Null means no limit. The budget row `project:<id>` has this amount too, with what was spent. */
    costBudgetUsd: usd('cost_budget_usd'),
    /** A fraction of the budget. */
    costWarningThreshold: usd('cost_warning_threshold').notNull().default('0.80'),
    /** The warning was given. Raising the budget resets it. */
    isCostWarned: boolean('is_cost_warned').notNull().default(false),
    costBurstPerMinuteUsd: usd('cost_burst_per_minute_usd'),
    /** How often the project was completed. A retriggered project completes again, with another webhook. */
    completions: integer('completions').notNull().default(0),
    /** When housekeeping starts its workflow; null once Temporal has the project. */
    startDueAt: startDue('start_due_at'),
    /** When Temporal was last asked whether it still has the project. */
    checkedAt: instant('checked_at').notNull().defaultNow(),
    createdAt: createdAt(),
    startedAt: instant('started_at'),
    completedAt: instant('completed_at'),
    abandonedAt: instant('abandoned_at'),
  },
  (t) => [
    // Lists are newest first: read backwards, these indexes serve `order by seq desc`, alone and with a filter.
    index('projects_by_workspace').on(t.customerId, t.seq),
    index('projects_by_status').on(t.customerId, t.status, t.seq),
    index('projects_by_template').on(t.customerId, t.workflowSlug, t.seq),
    // It serves the list between two times.
    index('projects_by_time').on(t.customerId, t.createdAt, t.seq),
    // Housekeeping looks in each workspace for projects that were accepted and are not known to be started.
    index('projects_unstarted')
      .on(t.customerId, t.startDueAt)
      .where(sql`${t.status} = 'planning' and ${t.startDueAt} is not null`),
    // Housekeeping looks in each workspace for projects under way, or abandoned since they were asked about, oldest first.
    index('projects_under_way')
      .on(t.customerId, t.checkedAt)
      .where(sql`${t.status} in ('planning', 'active') or ${t.checkedAt} < ${t.abandonedAt}`),
    check('projects_paused_for_a_reason', sql`(${t.pauseReason} is not null) = (${t.status} = 'paused')`),
    check('projects_abandoned_once', sql`(${t.abandonedAt} is not null) = (${t.status} = 'abandoned')`),
    check('projects_completed_has_an_end', sql`${t.status} <> 'completed' or ${t.completedAt} is not null`),
  ],
);

/** A phase of a project, or an edit session. */
export const tasks = pgTable(
  'tasks',
  {
    id: uuid('id').primaryKey(),
    projectId: text('project_id')
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    customerId: text('customer_id').notNull(),
    /** An order in which no phase stands before one that it depends on. */
    position: integer('position').notNull(),
    phaseSlug: text('phase_slug').notNull(),
    title: text('title').notNull(),
    taskKind: taskKind('task_kind').notNull().default('regular'),
    status: taskStatus('status').notNull().default('pending'),
    /** The slugs of phases. */
    dependsOn: text('depends_on').array().notNull().default([]),
    cascadeOnUpstreamChange: cascadeMode('cascade_on_upstream_change').notNull().default('lazy'),
    artifactSchemaSlug: text('artifact_schema_slug'),
    artifactJsonSchema: schemaJson('artifact_json_schema').$type<JsonSchema>(),
    /** The step whose output becomes the phase's artifact. */
    artifactStepSlug: text('artifact_step_slug'),
    /** How often the phase was started. A write in the name of an earlier start is refused. */
    iteration: integer('iteration').notNull().default(0),
    /** The reason of the first attempts of the next start. */
    nextReason: attemptReason('next_reason').notNull().default('initial'),
    /** Instructions that retriggers and edit sessions added, oldest first. */
    addenda: text('addenda').array().notNull().default([]),
    /**
     * A change that cascades strictly came while the phase ran: if it ends on outdated versions, it runs again.
     */
    onEnd: text('on_end').$type<'rerun'>(),
    /** What earlier phases have by changes that leave this one as it is. It counts as consumed until it starts anew. */
    sparedFor: jsonb('spared_for').$type<Consumed>().notNull().default({}),
    /** Who last changed what the phase has consumed, since it last started anew. */
    outdatedBy: jsonb('outdated_by').$type<Actor>(),
    costBudgetUsd: usd('cost_budget_usd'),
    /** For an edit session: what was asked for, and how its changes cascade. */
    instruction: text('instruction'),
    cascadeMode: text('cascade_mode').$type<Cascade>(),
    createdAt: createdAt(),
    startedAt: instant('started_at'),
    completedAt: instant('completed_at'),
  },
  (t) => [
    uniqueIndex('tasks_once_per_phase').on(t.projectId, t.phaseSlug),
    // This index serves the pipeline order.
    index('tasks_by_project').on(t.projectId, t.position),
  ],
);

/** A step of a task. */
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
    /** Slugs of steps of the same task. */
    dependsOn: text('depends_on').array().notNull().default([]),
    outputSchema: schemaJson('output_schema').$type<JsonSchema>(),
    effort: text('effort', { enum: EFFORTS }),
    maxAttempts: integer('max_attempts').notNull(),
    /** In seconds. */
    timeoutS: integer('timeout_s'),
    gateKind: gateKind('gate_kind'),
    gateConfig: jsonb('gate_config').$type<Record<string, unknown>>(),
    /** For a gate: the decision and who made it, with comment and payload. */
    gateOutput: jsonb('gate_output').$type<Record<string, unknown>>(),
    /** For a gate: what it showed when it opened and, once it is answered, what the answer was given to. */
    consumed: jsonb('consumed').$type<Shown>(),
    /** For a gate: who gave the latest answer. */
    answeredBy: jsonb('answered_by').$type<Actor>(),
    /** What reviewers, testers and gates said of the latest output; the next attempt is told it. */
    feedback: text('feedback').array().notNull().default([]),
    /** The text that a retry by hand adds to the prompt. */
    addendum: text('addendum'),
    /** The reason of the next attempt. Null means the reason of its task. */
    nextReason: attemptReason('next_reason'),
    /** The attempts that count against `max_attempts`, since the last start of the phase or the last retry by hand. */
    attemptsUsed: integer('attempts_used').notNull().default(0),
    /** How often the step died without an outcome, since then. */
    crashes: integer('crashes').notNull().default(0),
    /** For a gate: how often in a row its time ran out without an answer. */
    expiries: integer('expiries').notNull().default(0),
    /** Nobody knows the outcome of an irreversible effect, so only a person may go on. */
    isOutcomeUnknown: boolean('is_outcome_unknown').notNull().default(false),
    error: text('error'),
    /** The call that a limit stopped since the project last went on. Raising the budget reads it. */
    stop: jsonb('stop').$type<StepStop>(),
    createdAt: createdAt(),
    startedAt: instant('started_at'),
    completedAt: instant('completed_at'),
  },
  (t) => [
    uniqueIndex('subtasks_once_per_step').on(t.taskId, t.stepSlug),
    index('subtasks_by_task').on(t.taskId, t.position),
    index('subtasks_by_project').on(t.projectId),
    // Read backwards, this index serves the list of webhook gates, of all and of one status; the next one finds gates
    // that wait for another project.
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
    /** Who asked for it by hand; null for an attempt that follows by itself. */
    queuedBy: jsonb('queued_by').$type<Actor>(),
    status: attemptStatus('status').notNull().default('running'),
    /** Names the dispatch, so that a repeated activity finds the attempt that it made. Null while it is queued. */
    dispatchKey: text('dispatch_key'),
    /** A text, or the value that the step's schema asks for. */
    output: jsonb('output').$type<unknown>(),
    /** Says whether the output fits the step's schema; null where the step has none. */
    outputValidated: boolean('output_validated'),
    error: text('error'),
    /** The attempt died without an outcome. */
    isCrashed: boolean('is_crashed').notNull().default(false),
    /** Each model call of the attempt's run, and of the runs that this spawned, adds to it. */
    costUsd: usd('cost_usd').notNull().default('0'),
    childRunId: text('child_run_id'),
    /** The artifacts that the attempt was given, by phase. */
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
    /** A text (Markdown, HTML, SVG), or a JSON value. */
    content: jsonb('content').$type<unknown>().notNull(),
    producedBySubtaskId: uuid('produced_by_subtask_id'),
    producedByAttemptId: uuid('produced_by_attempt_id'),
    producedVia: attemptReason('produced_via').notNull(),
    /** The person who set this version or reverted to it; null for what the phase made. Four eyes rule them out. */
    changedBy: text('changed_by'),
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

/**
 * What each command did, under the id that its caller gave it. A command that is repeated after it committed answers
 * the same.
 */
export const projectCommands = pgTable(
  'project_commands',
  {
    projectId: text('project_id')
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    commandId: text('command_id').notNull(),
    /** The texts that its caller gave. They are kept here and never in a workflow's history. */
    args: jsonb('args').$type<CommandTexts>(),
    result: jsonb('result').$type<unknown>(),
    createdAt: createdAt(),
  },
  (t) => [primaryKey({ columns: [t.projectId, t.commandId] })],
);
