/**
 * The messages that the world and a project's phases send to its workflow. They are shared constants because a
 * misspelled name would succeed silently.
 */
import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type {
  Actor,
  BoardPhase,
  Cascade,
  Decision,
  Pause,
  PlanDecision,
  ProjectStatus,
  Seen,
  TaskStatus,
} from '../../src/resources/projects/model.ts';
import type { AnswerableGateKind } from '../../src/resources/templates/gates/kinds/model.ts';
import type { RunLimits } from '../../src/resources/runs/model.ts';

/** The server knows the workflow by this type. */
export const PROJECT = 'project';

/** A phase that goes on while its project continues as new. */
export interface PhaseInFlight {
  slug: string;
  /** The number and the slug make the id of the phase's workflow. */
  iteration: number;
  /** What the phase waits for, by gate. */
  waits?: Record<string, string>;
  /** What holds the phase beside its gates, by key. */
  holds?: Record<string, string>;
  /** The status that a command gave the phase, which holds whatever the phase reports at its end. */
  overtaken?: TaskStatus;
  /** These gates were answered before the phase told that they had opened. */
  answeredEarly?: string[];
}

export interface ProjectInput {
  projectId: string;
  customerId: string;
  workspaceId: string;
  title: string;
  workflowSlug: string;
  limits: RunLimits;
  /** Says that each kind of activity has a task queue of its own. */
  split: boolean;
  /** The phases in pipeline order, as the record had them at the time of the start. */
  phases: BoardPhase[];
  status: ProjectStatus;
  /** Set where it is paused. */
  pause?: Pause;
  /** Set where the workflow continued as new. */
  inFlight?: PhaseInFlight[];
  costUsd?: string;
  /** The project and its phases continue as new after this many events, or sooner where the server suggests it. */
  continueAfterEvents?: number;
}

/** An answer to a gate, on its way to the record. */
export interface GateCommand {
  subtask_id: string;
  decision: Decision;
  /** Who decided, in at most 64 characters. */
  decided_by?: string;
  /** The gate's output keeps it. */
  payload?: Record<string, unknown> | null;
  comment?: string | null;
}

/** Answers any waiting gate, for external systems and operators; a gate that does not wait is left alone. */
export const resolveGateSignal = defineSignal<[GateCommand]>('resolveGate');

/**
 * What callers say in their own words (addenda, comments, plans) is kept in Postgres under the id of the update, which
 * carries only what the workflow decides by.
 */
export interface Command {
  actor: Actor;
  /** An answer given in the inbox is bound to this. */
  seen?: Seen;
}
/** Answers a gate for the API and the tool. Problems: not_found, gate_not_waiting. */
export const resolveGateUpdate = defineUpdate<
  { projectStatus: ProjectStatus },
  [
    Command &
      Pick<GateCommand, 'subtask_id' | 'decision' | 'decided_by'> & {
        /** The caller may answer gates of this one kind. */
        gateKind: AnswerableGateKind;
      },
  ]
>('resolveGate');

/** Answers once no further step will be dispatched. Problems: project_not_active. */
export const pauseUpdate = defineUpdate<{ status: 'paused' }, [Command]>('pause');

export interface RecoverySummary {
  crashed_attempts_recovered: number;
  repeat_crash_failures: number;
  nonidempotent_pauses: number;
}
/** Problems: project_not_paused; of a raise bad_request, nothing_to_raise, insufficient_credit, admin_required. */
export const resumeUpdate = defineUpdate<
  RecoverySummary,
  [
    Command & {
      /** The steps that have failed are tried again. */
      retryFailed?: boolean;
      raiseByUsd?: string;
      /** The caller may set caps on spending. */
      mayRaiseCaps?: boolean;
    },
  ]
>('resume');

/** Problems: project_ended. */
export const abandonUpdate = defineUpdate<{ status: 'abandoned' }, [Command]>('abandon');

/** @returns the step that ran and has ended (or is a gate, and opened); null where none could be dispatched */
export const runStepUpdate = defineUpdate<{ subtaskId: string } | null, [Command]>('runStep');

/** Problems: not_found, subtask_not_failed, attempt_queued, project_ended. */
export const retrySubtaskUpdate = defineUpdate<void, [Command & { subtaskId: string }]>('retrySubtask');

export interface RetriggerResult {
  cascade: Cascade;
  affected_phase_slugs: string[];
  marked_stale: string[];
  auto_retriggered: string[];
  /** US dollars that the phases which run again cost the last time. */
  cost_estimate_usd: string;
}
/** Problems: not_found, phase_in_flight, project_ended. */
export const retriggerUpdate = defineUpdate<RetriggerResult, [Command & { phaseSlug: string; cascade: Cascade }]>(
  'retrigger',
);

export interface RevertResult {
  artifactId: string;
  cascade: Cascade;
  affected_phase_slugs: string[];
  marked_stale: string[];
  auto_retriggered: string[];
}
/** Problems: not_found, phase_in_flight, already_current, project_ended. */
export const revertUpdate = defineUpdate<
  RevertResult,
  [Command & { phaseSlug: string; targetVersion: number; cascade: Cascade }]
>('revertArtifact');

export interface EditSessionIds {
  task_id: string;
  planner_subtask_id: string;
  gate_subtask_id: string;
  enact_subtask_id: string;
}
/** Problems: project_ended. */
export const editSessionUpdate = defineUpdate<EditSessionIds, [Command & { cascade: Cascade }]>('startEditSession');

/** Problems: not_found, gate_not_waiting. */
export const resolvePlanUpdate = defineUpdate<
  void,
  [Command & { taskId: string; decision: PlanDecision; decidedBy: string }]
>('resolveEditPlan');

// ---- Messages from its phases
// ------------------------------------------------------------------------------------------

export interface PhaseStatus {
  slug: string;
  iteration: number;
  /** Null says that the phase waits for nothing any more. */
  waitsFor: string | null;
  /** The subtask of the gate. */
  gate: string;
}
/** A phase began to wait for something outside, or ceased to, where that was not the project's own doing. */
export const phaseStatusSignal = defineSignal<[PhaseStatus]>('phaseStatus');

/** The start of a phase in which something waits. */
export interface HeldPhase {
  projectId: string;
  slug: string;
  iteration: number;
}
export interface PhaseHeld extends Omit<HeldPhase, 'projectId'> {
  /** Names the wait within the phase: of a pause the subtask, or the phase itself where it has not opened. */
  key: string;
  /** Markdown; null says that this wait is over. */
  waitsFor: string | null;
  /** The project is paused by its record, of which its workflow may not know yet. */
  isPaused?: boolean;
}
/** Something in a phase began to wait beside its gates, or ceased to, to whoever looks at the project. */
export const phaseHeldSignal = defineSignal<[PhaseHeld]>('phaseHeld');

/** The workflow of a phase is gone and will not report: its record says what becomes of it. */
export const phaseLostSignal = defineSignal<[{ slug: string; taskId: string; iteration: number }]>('phaseLost');

/** Nothing moves although the record says that something should: it is read again, and everybody is told to go on. */
export const recheckSignal = defineSignal('recheck');

/** A step that was to run although the project is paused has ended, or a gate has opened. */
export const stepEndedSignal = defineSignal<[{ subtaskId: string }]>('stepEnded');
