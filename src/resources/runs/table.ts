/**
 * What a run leaves behind. Rows are inserted once by the service and from then on written by activities alone, each
 * under a key that a repeated activity meets again.
 */
import { sql } from 'drizzle-orm';
import {
  bigint,
  bigserial,
  boolean,
  check,
  date,
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
import type { RunFailure } from '../../platform/core/problem.ts';
import { createdAt, eventPlace, instant, startDue, usd } from '../../platform/db/columns.ts';
import { schemaJson } from '../../platform/db/property-order.ts';
import type { CapPeriod } from '../cost/caps/model.ts';
import { workspaces } from '../workspaces/table.ts';
import { EFFECTS, RUN_EVENT_TYPES, RUN_STATUSES, TOOL_CALL_STATUSES, type StepOfRun } from './model.ts';

export const runStatus = pgEnum('run_status', RUN_STATUSES);
export const runEventType = pgEnum('run_event_type', RUN_EVENT_TYPES);
export const toolEffect = pgEnum('tool_effect', EFFECTS);
export const toolCallStatus = pgEnum('tool_call_status', TOOL_CALL_STATUSES);

export const runs = pgTable(
  'runs',
  {
    /** ULID; the Temporal workflow id is `run-<id>`, so no mapping table can go stale. */
    id: text('id').primaryKey(),
    /** The order of acceptance decides who goes first in a conversation. */
    seq: bigserial('seq', { mode: 'number' }).notNull(),
    customerId: text('customer_id')
      .notNull()
      .references(() => workspaces.customerId),
    parentRunId: text('parent_run_id'),
    /** The tool call of the parent that spawned this run; a repeated call finds its first child by it. */
    parentCallId: text('parent_call_id'),
    /** So many runs are above this one, which bounds what a spawning agent can set off. */
    depth: integer('depth').notNull().default(0),
    /** Null until the classifier has picked an agent. */
    agent: text('agent'),
    transport: text('transport').notNull(),
    prompt: text('prompt').notNull(),
    threadId: text('thread_id'),
    channelId: text('channel_id'),
    conversation: text('conversation'),
    override: jsonb('override').$type<Record<string, unknown>>(),
    /** The answer is to be JSON of this schema. */
    outputSchema: schemaJson('output_schema').$type<Record<string, unknown>>(),
    status: runStatus('status').notNull().default('queued'),
    output: text('output'),
    /** The text begins with the code. */
    error: text('error'),
    /** Null in a run that did not fail. */
    errorCode: text('error_code').$type<RunFailure>(),

    model: text('model'),
    modelProvider: text('model_provider'),
    /** Counted in tokens. */
    contextWindow: integer('context_window'),
    reasoning: boolean('reasoning'),
    modelTier: text('model_tier').notNull().default('unknown'),
    modelRule: text('model_rule').notNull().default('unresolved'),
    modelEnforce: boolean('model_enforce').notNull().default(false),

    /** So many turns are recorded. A turn is recorded by moving this from n-1 to n, hence once. */
    turnCount: integer('turn_count').notNull().default(0),
    inputTokens: bigint('input_tokens', { mode: 'number' }).notNull().default(0),
    outputTokens: bigint('output_tokens', { mode: 'number' }).notNull().default(0),
    costUsd: usd('cost_usd').notNull().default('0'),
    /** What the caches of providers saved: so much more the same calls would have cost without. */
    savedUsd: usd('saved_usd').notNull().default('0'),
    /** False as soon as one call had no known price: the cost is then a lower bound. */
    isPriced: boolean('is_priced').notNull().default(true),
    /** The run counts against these (`budgets.id`); a child counts against its parent's too. */
    budgetIds: text('budget_ids').array().notNull().default([]),
    /** The attempt of a project's step that this run, or the one that spawned it, works for: its cost is added there. */
    attemptId: uuid('attempt_id'),
    /** The number of the scheduled job that asked for it: it may read that job's files. */
    jobN: integer('job_n'),
    /** A step asks this of its run, beyond what its agent says. */
    step: schemaJson('step').$type<StepOfRun>(),

    // A summary of the run's events is kept here so that a list needs no join.
    eventCount: integer('event_count').notNull().default(0),
    lastEventAt: instant('last_event_at').notNull().defaultNow(),
    lastEventType: runEventType('last_event_type').notNull().default('run_received'),
    /** At this time housekeeping starts the workflow; null once Temporal has it, and where somebody else starts it. */
    startDueAt: startDue('start_due_at'),
    /** Temporal was last asked at this time whether it still has the run. */
    checkedAt: instant('checked_at').notNull().defaultNow(),

    createdAt: createdAt(),
    startedAt: instant('started_at'),
    completedAt: instant('completed_at'),
  },
  (t) => [
    // Read backwards it serves `order by seq desc`; the others do so with their filter.
    index('runs_by_workspace').on(t.customerId, t.seq),
    index('runs_by_agent').on(t.customerId, t.agent, t.seq),
    index('runs_by_transport').on(t.customerId, t.transport, t.seq),
    // It serves a time window: statistics and costs, and by the index alone how many rows of which filter are in it.
    index('runs_by_time').on(t.customerId, t.createdAt, t.seq, t.agent, t.transport),
    index('runs_by_conversation')
      .on(t.customerId, t.conversation, t.seq)
      .where(sql`${t.conversation} is not null`),
    // Housekeeping finds by it, workspace by workspace, what was accepted and is not known to be started.
    index('runs_unstarted')
      .on(t.customerId, t.startDueAt)
      .where(sql`${t.status} = 'queued' and ${t.startDueAt} is not null`),
    // It finds what an agent is doing, and what stops when a workspace does.
    index('runs_in_flight_by_agent')
      .on(t.customerId, t.agent)
      .where(sql`${t.status} in ('queued', 'running')`),
    // Housekeeping finds by it, workspace by workspace, runs in flight, the longest unasked for first.
    index('runs_in_flight')
      .on(t.customerId, t.checkedAt)
      .where(sql`${t.status} in ('queued', 'running')`),
    // It finds runs that went wrong: few, among many that did not.
    index('runs_unsuccessful')
      .on(t.customerId, t.status, t.seq)
      .where(sql`${t.status} in ('failed', 'cancelled')`),
    uniqueIndex('runs_once_per_parent_call')
      .on(t.parentRunId, t.parentCallId)
      .where(sql`${t.parentCallId} is not null`),
    check(
      'runs_ended_has_an_end',
      sql`(${t.completedAt} is not null) = (${t.status} in ('succeeded', 'failed', 'cancelled'))`,
    ),
  ],
);

export const runEvents = pgTable(
  'run_events',
  {
    id: bigserial('id', { mode: 'number' }).primaryKey(),
    runId: text('run_id')
      .notNull()
      .references(() => runs.id, { onDelete: 'cascade' }),
    /** The workspace of the run. */
    customerId: text('customer_id').notNull(),
    /** Names the event within its run, so that a repeated activity writes it once. */
    key: text('key').notNull(),
    ts: instant('ts').notNull().defaultNow(),
    eventType: runEventType('event_type').notNull(),
    durationMs: integer('duration_ms'),
    costUsd: usd('cost_usd'),
    status: text('status'),
    payload: jsonb('payload').$type<Record<string, unknown>>().notNull(),
    ...eventPlace(),
  },
  (t) => [
    uniqueIndex('run_events_once').on(t.runId, t.key),
    // It serves the log of the workspace, of which this is the part of its runs.
    index('run_events_in_order').on(t.customerId, t.tx, t.seq),
  ],
);

/** The transcript: system and user at turn 0, the assistant's reply at each later one. Tool results are tool calls. */
export const runMessages = pgTable(
  'run_messages',
  {
    runId: text('run_id')
      .notNull()
      .references(() => runs.id, { onDelete: 'cascade' }),
    turn: integer('turn').notNull(),
    role: text('role').$type<'system' | 'user' | 'assistant'>().notNull(),
    content: jsonb('content').$type<unknown>().notNull(),
  },
  (t) => [primaryKey({ columns: [t.runId, t.turn, t.role] })],
);

export const runToolCalls = pgTable(
  'run_tool_calls',
  {
    runId: text('run_id')
      .notNull()
      .references(() => runs.id, { onDelete: 'cascade' }),
    /** The model's own id of the call. */
    callId: text('call_id').notNull(),
    customerId: text('customer_id').notNull(),
    turn: integer('turn').notNull(),
    position: integer('position').notNull(),
    tool: text('tool').notNull(),
    arguments: jsonb('arguments').$type<unknown>().notNull(),
    effect: toolEffect('effect').notNull(),
    status: toolCallStatus('status').notNull().default('pending'),
    /** The model is told this: the tool's value, or an error text. */
    result: jsonb('result').$type<unknown>(),
    /** Since then a person is asked whether it took effect: nobody knows, and the agent wants to. */
    lostAt: instant('lost_at'),
    createdAt: createdAt(),
    completedAt: instant('completed_at'),
  },
  (t) => [
    primaryKey({ columns: [t.runId, t.callId] }),
    // It serves recent invocations of one tool, newest first.
    index('run_tool_calls_by_tool').on(t.customerId, t.tool, t.createdAt),
  ],
);

/**
 * A spending limit. A run may count against several; the sum of spent and reserved is kept under each. A workspace's
 * wallet is one too, whose limit is its balance: the triggers of `wallet_ledger` alone move it.
 */
export const budgets = pgTable(
  'budgets',
  {
    /** `run:<id>`, `project:<id>`, `task:<id>`, `wallet:<customer>`, `cap:<customer>:<id of the cap>`. */
    id: text('id').primaryKey(),
    customerId: text('customer_id').notNull(),
    /** Null sets no limit; what is spent is counted all the same. */
    limitUsd: usd('limit_usd'),
    spentUsd: usd('spent_usd').notNull().default('0'),
    reservedUsd: usd('reserved_usd').notNull().default('0'),
    /** Of a cap by calendar `month` or `day` (UTC): its spending begins anew with each. */
    period: text('period').$type<CapPeriod>(),
    /** Percents of the limit at which it is told that so much is spent; null: 50, 80, 100. */
    alertAt: integer('alert_at').array(),
    /** What is spent was spent in the period that began on this day. */
    periodStart: date('period_start'),
  },
  (t) => [
    // It finds the caps of a workspace, which are few among the budgets of its runs.
    index('budgets_capping')
      .on(t.customerId)
      .where(sql`${t.period} is not null`),
    check(
      'budgets_wallet_is_its_balance',
      sql`${t.id} not like 'wallet:%' or (${t.id} = 'wallet:' || ${t.customerId} and ${t.limitUsd} is not null and ${t.spentUsd} = 0)`,
    ),
  ],
);

/** The highest possible cost of a model call, held from before the call until its true cost is known. */
export const costReservations = pgTable(
  'cost_reservations',
  {
    runId: text('run_id')
      .notNull()
      .references(() => runs.id, { onDelete: 'cascade' }),
    turn: integer('turn').notNull(),
    budgetId: text('budget_id')
      .notNull()
      .references(() => budgets.id, { onDelete: 'cascade' }),
    amountUsd: usd('amount_usd').notNull(),
    createdAt: createdAt(),
  },
  (t) => [primaryKey({ columns: [t.runId, t.turn, t.budgetId] })],
);

/** Files that runs saved. */
export const runArtifacts = pgTable(
  'run_artifacts',
  {
    id: uuid('id').primaryKey(),
    customerId: text('customer_id').notNull(),
    runId: text('run_id')
      .notNull()
      .references(() => runs.id, { onDelete: 'cascade' }),
    callId: text('call_id').notNull(),
    /** The agent of the run. */
    agent: text('agent'),
    filename: text('filename').notNull(),
    contentType: text('content_type').notNull(),
    sizeBytes: bigint('size_bytes', { mode: 'number' }).notNull(),
    sha256: text('sha256').notNull(),
    /** File storage keeps it under this key, which is never a caller's text. */
    fileKey: text('file_key').notNull(),
    createdAt: createdAt(),
  },
  (t) => [
    uniqueIndex('run_artifacts_once_per_call').on(t.runId, t.callId),
    index('run_artifacts_by_run').on(t.customerId, t.runId),
    // It serves the files of the workspace, newest first, as ids are UUIDv7.
    index('run_artifacts_by_workspace').on(t.customerId, t.id),
    index('run_artifacts_by_agent').on(t.customerId, t.agent, t.id),
  ],
);

/** Counts what a plan caps by the day. */
export const usageCounters = pgTable(
  'usage_counters',
  {
    customerId: text('customer_id').notNull(),
    resource: text('resource').notNull(),
    /** A UTC date such as `2026-11-21`. */
    day: text('day').notNull(),
    used: integer('used').notNull(),
  },
  (t) => [primaryKey({ columns: [t.customerId, t.resource, t.day] })],
);
