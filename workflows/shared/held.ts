/** Lets a project say what holds one of its phases, beside the gates that are on its board. */
import { CancellationScope, getExternalWorkflowHandle } from '@temporalio/workflow';
import { projectWorkflowId } from '../../src/resources/projects/model.ts';
import { phaseHeldSignal, type HeldPhase, type PhaseHeld } from '../project/messages.ts';

/**
 * @param phase is undefined where nobody is told
 * @param wait goes on however the telling ends, since the project may be over
 */
export function whileHeld<T>(
  phase: HeldPhase | undefined,
  told: Pick<PhaseHeld, 'key' | 'isPaused'> & { waitsFor: string },
  wait: () => Promise<T>,
): Promise<T> {
  if (!phase) return wait();
  const { projectId, slug, iteration } = phase;
  const tell = (about: Omit<PhaseHeld, 'slug' | 'iteration'>): Promise<void> =>
    getExternalWorkflowHandle(projectWorkflowId(projectId))
      .signal(phaseHeldSignal, { slug, iteration, ...about })
      .catch(() => {});
  return tell(told)
    .then(wait)
    .finally(() => CancellationScope.nonCancellable(() => tell({ key: told.key, waitsFor: null })));
}
