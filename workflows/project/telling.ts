/** Sends signals from a project to its phases under way, none of which is lost when the project continues as new. */
import { allHandlersFinished, getExternalWorkflowHandle } from '@temporalio/workflow';
import { phaseWorkflowId } from '../../src/resources/projects/model.ts';

type PhaseHandle = ReturnType<typeof getExternalWorkflowHandle>;
type Tell = (phase: PhaseHandle) => Promise<void>;

/** @param inFlight the phases under way, with the number of their start */
export function createTelling(projectId: string, inFlight: ReadonlyMap<string, number>) {
  /** So many signals are on their way. */
  let underWay = 0;
  const handleOf = (slug: string, iteration: number): PhaseHandle =>
    getExternalWorkflowHandle(phaseWorkflowId(projectId, slug, iteration));

  /** Tells a phase something. One that is not under way, or has just ended, has nothing to hear. */
  const tellPhase = async (slug: string, tell: Tell): Promise<void> => {
    const iteration = inFlight.get(slug);
    if (iteration !== undefined) await tell(handleOf(slug, iteration)).catch(() => {});
  };

  return {
    handleOf,
    tellPhase,
    tellPhases: (tell: Tell): Promise<unknown> =>
      Promise.all([...inFlight.keys()].map((slug) => tellPhase(slug, tell))),

    /**
     * Carries on with what follows from a recorded command. Whoever sent the command gets the answer without a further
     * workflow task; the workflow neither ends nor continues as new before this is delivered (`isSettled`), as it would
     * be lost.
     * @param telling must never fail
     */
    meanwhile(telling: Promise<unknown>): void {
      underWay++;
      void telling.finally(() => underWay--);
    },

    /** @returns whether nobody waits for an answer, and everything that was said has arrived */
    isSettled: (): boolean => allHandlersFinished() && underWay === 0,
  };
}
