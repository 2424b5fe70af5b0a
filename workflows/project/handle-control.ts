/**
 * Handles updates with which people control a project: it pauses, goes on, ends, or runs one step. An update gives the
 * caller an answer.
 */
import { condition, isCancellation, setHandler } from '@temporalio/workflow';
import { present } from '../../src/platform/core/present.ts';
import { grantStepSignal, stepRetriedSignal } from '../phase/messages.ts';
import { answerWaiters } from './handle-gates.ts';
import { abandonUpdate, pauseUpdate, resumeUpdate, runStepUpdate, stepEndedSignal } from './messages.ts';
import type { Phases } from './phases.ts';
import type { ProjectState } from './state.ts';

export function handleControl(state: ProjectState, phases: Phases): void {
  const { board, records, command, apply, deliverInBackground, signalPhase, handleOf, unlessEnded } = state;
  const { projectId } = state.input;
  /** These steps may run although the project is paused. */
  const granted = new Set<string>();

  setHandler(
    pauseUpdate,
    ({ actor }) =>
      command(async (commandId) => {
        const answer = await records.pauseProject({ projectId, actor, commandId });
        state.become('paused', 'requested');
        return answer;
      }),
    { validator: unlessEnded() },
  );

  setHandler(
    resumeUpdate,
    ({ actor, seen, retryFailed, raiseByUsd, mayRaiseCaps }) =>
      command(async (commandId) => {
        const inFlightTaskIds = [...board.inFlight.keys()].map((slug) => present(board.find(slug)).taskId);
        const command = { projectId, actor, commandId, inFlightTaskIds };
        const raise = raiseByUsd && { raiseByUsd, ...(mayRaiseCaps && { mayRaiseCaps }) };
        const asked = { ...(seen && { seen }), ...(retryFailed && { retryFailed }), ...(raise && raise) };
        const { summary, changes, retried } = await records.resumeProject({ ...command, ...asked });
        state.become('active');
        apply(changes);
        for (const { phaseSlug, subtaskId } of retried) {
          deliverInBackground(signalPhase(phaseSlug, (phase) => phase.signal(stepRetriedSignal, { subtaskId })));
        }
        deliverInBackground(state.signalActive());
        return summary;
      }),
    { validator: unlessEnded() },
  );

  setHandler(
    abandonUpdate,
    ({ actor, seen }) =>
      command(async (commandId) => {
        const abandon = { projectId, actor, commandId, ...(seen && { seen }) };
        const { changes, waiters } = await records.abandonProject(abandon);
        state.become('abandoned');
        apply(changes);
        deliverInBackground(Promise.all([phases.endAll(), answerWaiters(projectId, waiters, 'rejected')]));
        return { status: 'abandoned' as const };
      }),
    { validator: unlessEnded() },
  );

  setHandler(
    runStepUpdate,
    () =>
      command(async () => {
        const next = await records.nextStep({ projectId });
        if (!next || granted.has(next.subtaskId)) return null;
        const { subtaskId, phaseSlug } = next;
        granted.add(subtaskId);
        const iteration = await grant(next);
        await condition(() => !granted.has(subtaskId) || board.inFlight.get(phaseSlug) !== iteration);
        granted.delete(subtaskId);
        return { subtaskId };
      }),
    { validator: unlessEnded() },
  );
  setHandler(stepEndedSignal, ({ subtaskId }) => void granted.delete(subtaskId));

  /** @returns the start of the phase that was told */
  async function grant({ phaseSlug, subtaskId }: { phaseSlug: string; subtaskId: string }): Promise<number> {
    for (;;) {
      const iteration = board.inFlight.get(phaseSlug);
      if (iteration === undefined) return phases.start(present(board.find(phaseSlug)), subtaskId);
      try {
        await handleOf(phaseSlug, iteration).signal(grantStepSignal, { subtaskId });
        return iteration;
      } catch (error) {
        if (isCancellation(error)) throw error;
        // The phase has ended, and this workflow is about to hear of it.
        await condition(() => board.inFlight.get(phaseSlug) !== iteration);
      }
    }
  }
}
