/**
 * What is decided at a gate. A `GateRequest` (of the API) and the world's signal become a `GateCommand`; the command that is
 * applied makes a `GateDecision`, and whoever sent it is told a `GateOutcome`.
 */
import type { Decision, PhaseChange, ProjectStatus } from '../model.ts';

/** What was decided, for the phase of the gate. */
export interface GateDecision {
  subtaskId: string;
  decision: Decision;
  /**
   * What follows in the phase: the gate passes, the steps before it are pending again, the phase fails, or its other
   * steps are skipped.
   */
  effect: 'pass' | 'rework' | 'fail' | 'skip';
  /** The steps that are pending again, this gate among them. */
  reset: string[];
}

interface GateOutcomes {
  resolved: {
    gate: GateDecision;
    taskId: string;
    phaseSlug: string;
    projectStatus: ProjectStatus;
    /** The project was paused and now goes on. */
    reactivated: boolean;
  };
  /** The vote was counted, and the gate needs more. */
  voted: {
    /** The number of approvals so far. */
    votes: number;
    quorum: number;
    projectStatus: ProjectStatus;
  };
  /** Nothing waited for the answer, and nobody could be told. */
  ignored: object;
  /** An edit session was given up before its plan waited for an answer, or before it was enacted. */
  discarded: {
    change: PhaseChange;
    /** The project was paused, and nothing keeps it from going on any more. */
    reactivated: boolean;
  };
}
/** What became of a command. */
export type GateOutcome<Kind extends keyof GateOutcomes = keyof GateOutcomes> = {
  [Each in Kind]: { outcome: Each } & GateOutcomes[Each];
}[Kind];
