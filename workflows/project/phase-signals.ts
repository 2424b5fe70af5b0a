/** Sends signals from a project to its phases under way, none of which is lost when the project continues as new. */
import { allHandlersFinished, getExternalWorkflowHandle } from '@temporalio/workflow';
import { phaseWorkflowId } from '../../src/resources/projects/model.ts';

type PhaseHandle = ReturnType<typeof getExternalWorkflowHandle>;
type Tell = (phase: PhaseHandle) => Promise<void>;

/** @param inFlight the phases under way, with the number of their start */
export function createPhaseSignals(projectId: string, inFlight: ReadonlyMap<string, number>) {
  /** So many signals are on their way. */
  let underWay = 0;
  const handleOf = (slug: string, iteration: number): PhaseHandle =>
    getExternalWorkflowHandle(phaseWorkflowId(projectId, slug, iteration));

  /** Tells a phase something. One that is not under way, or has just ended, has nothing to hear. */
  const signalPhase = async (slug: string, tell: Tell): Promise<void> => {
    const iteration = inFlight.get(slug);
    if (iteration !== undefined) await tell(handleOf(slug, iteration)).catch(() => {});
  };

  return {
    handleOf,
    signalPhase,
    signalPhases: (tell: Tell): Promise<unknown> =>
      Promise.all([...inFlight.keys()].map((slug) => signalPhase(slug, tell))),

    /**
     * Carries on with what follows from a recorded command. Whoever sent the command gets the answer without a further
     * workflow task; the workflow neither ends nor continues as new before this is delivered (`isSettled`), as it would
     * be lost.
     * @param delivery must never fail
     */
    deliverInBackground(delivery: Promise<unknown>): void {
      underWay++;
      void delivery.finally(() => underWay--);
    },

    /** @returns whether nobody waits for an answer, and everything that was said has arrived */
    isSettled: (): boolean => allHandlersFinished() && underWay === 0,
  };
}
