/**
 * The state of one start of a phase, and how it changes. The record decides; this is what the workflow knows of what is
 * under way, and what an operator sees.
 */
import { CancellationScope, workflowInfo } from '@temporalio/workflow';
import type { PhaseChange, PhaseEnding } from '../../src/resources/projects/model.ts';
import { recordsInTurn } from '../shared/activities.ts';
import { createBrake } from '../shared/brake.ts';
import { createPhaseDetails } from './details.ts';
import type { PhaseInput } from './messages.ts';
import { createOpenGates } from './open-gates.ts';
import { createProjectSignals } from './project-signals.ts';
import { createStepGraph } from './step-graph.ts';

export type PhaseState = ReturnType<typeof createPhaseState>;

/** What has happened in this start of the phase. */
interface PhaseProgress {
  /** These steps may run although the project is paused. */
  granted: Set<string>;
  changes: PhaseChange[];
  /** The number of times that the project went on. */
  resumes: number;
  /** The number of steps that are no longer under way. */
  stepsEnded: number;
  /** The record may know more than this workflow was told. */
  isBehind: boolean;
  isDetached: boolean;
  /** This start writes nothing any more: another took over, or phases before it are to be done first. */
  over: 'superseded' | 'not_yet' | undefined;
  /** The first error of a step, which ends the phase. */
  stepError: unknown;
  /** The end of the phase, where it is recorded with that of its last step. */
  closed: Extract<PhaseEnding, { kind: 'ended' }> | undefined;
}

const createProgress = ({ granted, detached = false }: PhaseInput): PhaseProgress => ({
  granted: new Set(granted ? [granted] : []),
  changes: [],
  resumes: 0,
  stepsEnded: 0,
  isBehind: false,
  isDetached: detached,
  over: undefined,
  stepError: undefined,
  closed: undefined,
});

export function createPhaseState(input: PhaseInput) {
  const { projectId, taskId, iteration } = input;
  const graph = createStepGraph(() => details.show());
  const details = createPhaseDetails(input, graph.render);
  const gates = createOpenGates();
  let keysMade = 0;

  const state = {
    input,
    ref: { projectId, taskId, iteration },
    records: recordsInTurn(),
    graph,
    gates,
    details,
    signals: createProjectSignals(input),
    brake: createBrake(),
    /** All steps run in it, so that a start that was overtaken can cancel them. */
    scope: new CancellationScope(),
    ...createProgress(input),

    isIdle: (): boolean => graph.inFlight.size === 0,
    hasNews: (): boolean => state.over !== undefined || state.stepError !== undefined || state.isBehind,

    /** @returns a key of one dispatch, so that a repeated activity is told the same */
    nextKey: (): string => `${workflowInfo().runId}:${++keysMade}`,

    supersede(): void {
      state.over ??= 'superseded';
    },

    /** Makes steps pending that are pending again in the record. Those in `failed` are left to a person. */
    reopen({ reset, failed = [] }: { reset: readonly string[]; failed?: readonly string[] }): void {
      graph.reset(reset);
      gates.reopen(reset);
      for (const subtaskId of failed) if (!graph.inFlight.has(subtaskId)) graph.set(subtaskId, 'failed');
    },
  };
  return state;
}
