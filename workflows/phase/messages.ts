/** The messages from a project's workflow to its phases. */
import { defineSignal } from '@temporalio/workflow';
import type { PhaseChange, TaskStatus } from '../../src/resources/projects/model.ts';
import type { GateDecision } from '../../src/resources/projects/decisions/model.ts';
import type { RunLimits } from '../../src/resources/runs/model.ts';

export interface PhaseInput {
  projectId: string;
  customerId: string;
  workspaceId: string;
  taskId: string;
  slug: string;
  iteration: number;
  limits: RunLimits;
  split: boolean;
  /** This one step may run although the project is paused. */
  granted?: string;
  /** Set where the phase continued as new: its project learns of its end by signal. */
  detached?: boolean;
  /** Continue as new after this many events, or sooner where the server suggests it. */
  continueAfterEvents?: number;
}

export interface PhaseResult {
  slug: string;
  iteration: number;
  /**
   * `superseded` says that another start of the phase has taken over, or that its project is over; `not_yet` that the
   * phase did not open, because one before it runs again.
   */
  status: TaskStatus | 'superseded' | 'not_yet';
  changes: PhaseChange[];
  /** US dollars that the whole project has cost so far. */
  costUsd: string | null;
}

/** The project is active again. */
export const resumedSignal = defineSignal('goOn');

/** A gate of this phase was answered. */
export const gateResolvedSignal = defineSignal<[GateDecision]>('gateResolved');

/** A step that had failed is pending again. */
export const stepRetriedSignal = defineSignal<[{ subtaskId: string }]>('stepRetried');

/** This step may run although the project is paused. */
export const grantStepSignal = defineSignal<[{ subtaskId: string }]>('grantStep');

/** The record has no place for this start any more: it ends without a further word. */
export const discardSignal = defineSignal('discard');

/** The project's workflow continues as new: from now on it learns of this phase's end by `phaseEnded`. */
export const detachSignal = defineSignal('detach');

/** To the project's workflow, by a phase that was detached. */
export const phaseEndedSignal = defineSignal<[PhaseResult]>('phaseEnded');
