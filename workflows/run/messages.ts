/**
 * The messages that the world sends to a run's workflow. They are shared constants because a misspelled signal name
 * would succeed silently.
 */
import { defineSignal } from '@temporalio/workflow';
import type { EarlierAttempts, RunLimits } from '../../src/resources/runs/model.ts';
import type { HeldPhase } from '../project/messages.ts';

export interface AgentRunInput {
  runId: string;
  customerId: string;
  workspaceId: string;
  /** Null lets the classifier pick one. */
  agent: string | null;
  limits: RunLimits;
  /** Says that each kind of activity has a task queue of its own. */
  split: boolean;
  /** The step of a project's phase that waits for the run, where one does: the project is told what holds the run. */
  holds?: HeldPhase & { step: string };
  /** A run that continued as new goes on with this turn. */
  turn?: number;
  earlier?: EarlierAttempts;
  /**
   * The run continues as new after this many turns or looks at whose turn it is, or sooner where the server suggests
   * it.
   */
  continueAfterTurns?: number;
}

export const AGENT_RUN = 'agentRun';

/** A person has sent what a page was opened for. The signal carries the page's id; what was sent is in the record. */
export const submittedSignal = defineSignal<[pageId: string]>('submitted');

/** The run before this one in the conversation has ended. */
export const goAheadSignal = defineSignal('goAhead');
