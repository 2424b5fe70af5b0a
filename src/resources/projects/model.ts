/** Words and rules of projects. Pure, because the workflows use them too. */
import type { Effect } from '../runs/model.ts';
import type { GateMoment } from '../templates/gates/model.ts';
import type { GateKind, StepRole, StepKind } from '../templates/model.ts';
import type { EditPlan } from './edit-plans/model.ts';

export const PROJECT_STATUSES = ['planning', 'active', 'paused', 'completed', 'abandoned'] as const;
export type ProjectStatus = (typeof PROJECT_STATUSES)[number];

/** What each status says of a project. A new status does not compile without. */
const PROJECT_STAGES: Readonly<Record<ProjectStatus, 'going' | 'held' | 'over'>> = {
  planning: 'going',
  active: 'going',
  paused: 'held',
  completed: 'over',
  abandoned: 'over',
};
/** Work on the project begins by itself. */
export const isGoing = (status: ProjectStatus): boolean => PROJECT_STAGES[status] === 'going';
/** The project is over. A complete one goes on if work is added. */
export const isTerminal = (status: ProjectStatus): boolean => PROJECT_STAGES[status] === 'over';

/** So many of the newest projects that match are found by words or between times. */
export const MOST_FOUND = 1_000;

/** Tasks and subtasks share these statuses. */
export const TASK_STATUSES = [
  'pending',
  'running',
  'blocked',
  'review',
  'succeeded',
  'failed',
  'skipped',
  'stale',
] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** What each status says of a phase or step. A new status does not compile without. */
const TASK_STAGES: Readonly<Record<TaskStatus, 'pending' | 'in_flight' | 'done' | 'failed'>> = {
  pending: 'pending',
  running: 'in_flight',
  blocked: 'in_flight',
  review: 'in_flight',
  succeeded: 'done',
  failed: 'failed',
  skipped: 'done',
  stale: 'done',
};
/** The phase lets the phases after it start. A stale artifact is still the current one. */
export const isDone = (status: TaskStatus): boolean => TASK_STAGES[status] === 'done';
/** The phase is in the hands of a phase workflow; the step has begun and not ended. */
export const isInFlight = (status: TaskStatus): boolean => TASK_STAGES[status] === 'in_flight';
/** The phase or step is still to end. */
export const isTaskOpen = (status: TaskStatus): boolean => status === 'pending' || isInFlight(status);

export const TASK_KINDS = ['regular', 'edit_session'] as const;

export const ATTEMPT_STATUSES = ['pending', 'running', 'succeeded', 'failed'] as const;
export type AttemptStatus = (typeof ATTEMPT_STATUSES)[number];

const IS_ATTEMPT_OPEN: Readonly<Record<AttemptStatus, boolean>> = {
  pending: true,
  running: true,
  succeeded: false,
  failed: false,
};
/** The attempt is still to end. */
export const isAttemptOpen = (status: AttemptStatus): boolean => IS_ATTEMPT_OPEN[status];

export const ATTEMPT_REASONS = [
  'initial',
  'manual_retry',
  'review_failure',
  'cascade_retrigger',
  'edit_session',
  'manual_rework',
  /** The attempt before failed, timed out or was stopped by a budget. */
  'auto_retry',
  /** The output of the attempt before did not have the shape that the step asks for. */
  'schema_repair',
  /** The attempt before died without an outcome. */
  'crash_recovery',
] as const;
export type AttemptReason = (typeof ATTEMPT_REASONS)[number];

/** How an artifact came to be: by an attempt for one of these reasons, or by hand through an edit session. */
export type ProducedVia = AttemptReason;

/** Why a project is paused. Only a pause that a person asked for outlives the answer of a webhook gate. */
export const PAUSE_REASONS = [
  'requested',
  'subtask_failed',
  'gate_rejected',
  'gate_misconfigured',
  'budget_breached',
  'repeat_crash',
  'nonidempotent_crash',
  'nothing_dispatchable',
  /** A gate was left unanswered too often in a row. */
  'gate_expired',
] as const;
export type PauseReason = (typeof PAUSE_REASONS)[number];

export interface Pause {
  reason: PauseReason;
  /** The time in ISO 8601. */
  since: string;
}

/** The record itself carries out this action, once for each approval of a plan. */
export const ENACT_ACTION = 'enact_edit_plan';

export const DECISIONS = ['approved', 'rejected'] as const;
export type Decision = (typeof DECISIONS)[number];

export const PLAN_DECISIONS = ['approved', 'rejected', 'request_changes', 'edit_plan'] as const;
export type PlanDecision = (typeof PLAN_DECISIONS)[number];

export const CASCADES = ['lazy', 'strict', 'none', 'default'] as const;
export type Cascade = (typeof CASCADES)[number];

export const ACTOR_KINDS = ['system', 'agent', 'action', 'human', 'external'] as const;
export type ActorKind = (typeof ACTOR_KINDS)[number];

/** Who does something to a project. */
export interface Actor {
  kind: ActorKind;
  id: string | null;
}
export const SYSTEM: Actor = { kind: 'system', id: null };

/** The way by which a decision came. `elsewhere` means a route that knows nothing of the inbox. */
export const WAYS = ['inbox', 'link', 'api_key', 'page', 'signal', 'timeout', 'elsewhere'] as const;
export type Way = (typeof WAYS)[number];

/** What a person saw when they answered, and the way by which the answer came. */
export interface Seen {
  waitId: string;
  revision: number;
  via: Way;
}

/** A gate that ran out of time this often in a row without an answer is left to a person. */
export const MAX_EXPIRIES = 3;

/** An idempotent step that dies this often in one life of its phase is left to a person. */
export const MAX_CRASHES = 2;

export const projectWorkflowId = (projectId: string): string => `project-${projectId}`;
export const phaseWorkflowId = (projectId: string, phaseSlug: string, iteration: number): string =>
  `project-${projectId}/${phaseSlug}/${iteration}`;
/** The phase slug of the n-th edit session of a project. No template phase may begin with it. */
export const editSessionSlug = (n: number): string => `edit-session-${n}`;

// ---- What workflows and activities tell each other: references and small facts -------------------------------------

/** A phase as the project's workflow sees it. */
export interface BoardPhase {
  slug: string;
  taskId: string;
  status: TaskStatus;
  /** The positions of the phases that it depends on. */
  dependsOn: number[];
  /**
   * How often the phase was started. The id of its workflow contains this number, and a write in the name of an earlier
   * start is refused.
   */
  iteration: number;
}

/**
 * What a command or a recovery did to a phase. The workflow's board follows it, and appends a phase that it does not
 * know.
 */
export interface PhaseChange {
  slug: string;
  status: TaskStatus;
  /** Set for a new phase only. */
  taskId?: string;
}

/** A step as the phase's workflow sees it. */
export interface StepRef {
  subtaskId: string;
  slug: string;
  kind: StepKind;
  role: StepRole;
  status: TaskStatus;
  /** The positions of the steps that it depends on. */
  dependsOn: number[];
}

/** Names one start of one phase. */
export interface PhaseRef {
  projectId: string;
  taskId: string;
  iteration: number;
}

export type PhaseOpening =
  | { kind: 'opened'; steps: StepRef[] }
  /** The project is paused. The workflow asks again when it is told to go on. */
  | { kind: 'paused'; reason?: PauseReason }
  /** A phase before it is to be done first, so this start ends; the project starts it anew then. */
  | { kind: 'not_yet' }
  /** Another start of this phase, or the end of its project, has replaced this one. */
  | { kind: 'superseded' };

/** The effect of an action is declared in code, so the record does not have it. */
export type EffectOf = (action: string) => Effect;

export type AttemptBeginning =
  | { kind: 'agent'; attemptId: string; runId: string; agent: string; timeoutMs: number | null }
  | {
      kind: 'action';
      attemptId: string;
      action: string;
      effect: 'read' | 'idempotent' | 'irreversible';
      timeoutMs: number | null;
    }
  | {
      kind: 'gate';
      gateKind: GateKind;
      waitMs: number | null;
      /** For a gate of people: the reminders and deadlines that come with time. Absent if there are none. */
      moments?: GateMoment[];
      /** Says who decides, and when, to whoever looks at the workflow. */
      note?: string;
      /** When the gate opened, in ISO 8601, to whoever looks at the workflow. */
      since?: string;
    }
  /**
   * A gate that passed while it opened, because the project that it waits for is complete or its time is in the past.
   */
  | { kind: 'gate_passed' }
  /** The gate's configuration cannot be used, so the project was paused. */
  | { kind: 'misconfigured' }
  | { kind: 'paused'; reason?: PauseReason }
  /** By the record it cannot begin now: what it needs was sent back, or it is done already. The workflow reads the record. */
  | { kind: 'not_yet' }
  /** Phases before its own are to be done first, so this start of its phase is over, as in `PhaseOpening`. */
  | { kind: 'put_back' }
  | { kind: 'superseded' };

/** How the work of an attempt ended, beside what the record says of it. */
export interface AttemptFault {
  kind: 'timeout' | 'crash' | 'failed' | 'cancelled';
  /** Written for people: it names causes and contains no content. */
  message: string;
}

export type AttemptOutcome =
  | { kind: 'succeeded' }
  /**
   * The step is pending again, and so are the steps in `reset`, whose input will change. Those in `failed` are left to a
   * person.
   */
  | { kind: 'again'; reset: string[]; failed: string[] }
  /**
   * No attempt of the step is left, or a person has to decide, and the project is paused. Other steps are as in `again`.
   */
  | { kind: 'failed'; reset: string[]; failed: string[] }
  | { kind: 'superseded' };

/** A phase as it is recorded now, for its workflow; `superseded` as in `PhaseOpening`. */
export type PhaseReading = { kind: 'current'; steps: StepRef[] } | { kind: 'superseded' };

export type PhaseEnding =
  | { kind: 'ended'; status: TaskStatus; changes: PhaseChange[]; costUsd: string }
  /** The phase cannot end yet, because some step became pending in the meantime. */
  | { kind: 'more'; steps: StepRef[] }
  | { kind: 'superseded' };

/**
 * Which versions of earlier phases' artifacts an attempt or a gate was shown, and whether they were stale then; by phase.
 * The version is null for a phase that makes no artifact.
 */
export type Consumed = Record<string, { version: number | null; isStale: boolean }>;

/** What a gate shows to those who answer it: artifacts of earlier phases, and work of the steps before it. */
export interface Shown {
  phases: Consumed;
  /** By step: the number of its latest attempt, null where it has none, and 0 where it is to run. */
  steps: Record<string, number | null>;
}

/** What a caller says in its own words. Workflows pass only the id under which the record keeps it. */
export interface CommandTexts {
  addendum?: string | null;
  instruction?: string;
  comment?: string | null;
  reason?: string | null;
  payload?: Record<string, unknown> | null;
  revisedPlan?: EditPlan | null;
}

/** So many files can be uploaded for a project that is about to be made. */
export const MAX_NEW_FILES = 10;
/** They wait for it so long. */
export const UPLOAD_TTL_MS = 24 * 3_600_000;
