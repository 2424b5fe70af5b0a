/** What a phase tells its project, which does without what does not arrive except the end. */
import { ApplicationFailure, getExternalWorkflowHandle } from '@temporalio/workflow';
import { projectWorkflowId } from '../../src/resources/projects/model.ts';
import { phaseStatusSignal, stepEndedSignal } from '../project/messages.ts';
import { phaseEndedSignal, type PhaseInput, type PhaseResult } from './messages.ts';

export function createTelling({ projectId, slug, iteration, answersKnown }: PhaseInput) {
  const project = () => getExternalWorkflowHandle(projectWorkflowId(projectId));
  return {
    /** Tells the project's board what a gate waits for; null: for nothing any more. */
    tell(gate: string, waitsFor: string | null): Promise<void> {
      const told = { slug, iteration, status: waitsFor ? ('blocked' as const) : ('running' as const), waitsFor };
      return project()
        .signal(phaseStatusSignal, answersKnown ? { ...told, gate } : told)
        .catch(() => {});
    },
    tellStepEnded: (subtaskId: string): Promise<void> =>
      project()
        .signal(stepEndedSignal, { subtaskId })
        .catch(() => {}),
    tellEnd: (result: PhaseResult): Promise<void> => project().signal(phaseEndedSignal, result),
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
