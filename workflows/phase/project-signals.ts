/** Signals from a phase to its project, which does without those that do not arrive, except the end. */
import { ApplicationFailure, getExternalWorkflowHandle } from '@temporalio/workflow';
import { projectWorkflowId } from '../../src/resources/projects/model.ts';
import { phaseHeldSignal, phaseStatusSignal, stepEndedSignal, type PhaseHeld } from '../project/messages.ts';
import { whileHeld } from '../shared/held.ts';
import { phaseEndedSignal, type PhaseInput, type PhaseResult } from './messages.ts';

export function createProjectSignals(input: PhaseInput) {
  const { projectId, slug, iteration } = input;
  const project = () => getExternalWorkflowHandle(projectWorkflowId(projectId));
  return {
    /**
     * Tells the project's board what a gate waits for; null: for nothing any more. The project takes a gate that it answers
     * off its board by itself.
     */
    signalGate: (gate: string, waitsFor: string | null): Promise<void> =>
      project()
        .signal(phaseStatusSignal, { slug, iteration, gate, waitsFor })
        .catch(() => {}),

    /** Waits for the project to go on. */
    waitWhilePaused: (told: Pick<PhaseHeld, 'key'> & { waitsFor: string }, wait: () => Promise<void>): Promise<void> =>
      whileHeld(input, { ...told, isPaused: true }, wait),

    /** Tells the project that its record may have paused it, as a phase that goes on beside that says by nothing else. */
    signalPaused(): void {
      const told = { slug, iteration, key: '', waitsFor: null, isPaused: true };
      void project()
        .signal(phaseHeldSignal, told)
        .catch(() => {});
    },

    signalStepEnded: (subtaskId: string): Promise<void> =>
      project()
        .signal(stepEndedSignal, { subtaskId })
        .catch(() => {}),
    signalEnd: (result: PhaseResult): Promise<void> => project().signal(phaseEndedSignal, result),
  };
}

/** A failed workflow is red in the Temporal Web UI; the project reads the result from the failure. */
export const failureOf = (result: PhaseResult): ApplicationFailure =>
  ApplicationFailure.create({
    type: 'phase_failed',
    message: `phase ${result.slug} failed; its steps say why`,
    nonRetryable: true,
    details: [result],
  });
