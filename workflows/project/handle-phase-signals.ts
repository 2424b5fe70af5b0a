/** Handles what phases, and housekeeping, tell a project. */
import { setHandler } from '@temporalio/workflow';
import { phaseEndedSignal } from '../phase/messages.ts';
import { phaseHeldSignal, phaseLostSignal, phaseStatusSignal, recheckSignal } from './messages.ts';
import type { Phases } from './phases.ts';
import type { ProjectState } from './state.ts';

export function handlePhaseSignals(state: ProjectState, phases: Phases): void {
  const { board, records, wake } = state;
  const { projectId } = state.input;

  setHandler(phaseStatusSignal, (told) => {
    board.note(told);
    wake();
  });
  setHandler(phaseHeldSignal, async (told) => {
    board.hold(told);
    wake();
    if (!told.isPaused || state.status !== 'active') return;
    await state.adoptRecordedStatus(records.pauseIdle({ projectId }));
    wake();
  });
  setHandler(phaseEndedSignal, phases.end);
  setHandler(phaseLostSignal, async (lost) => {
    if (board.inFlight.get(lost.slug) === lost.iteration) await phases.recover(lost);
  });
  setHandler(recheckSignal, async () => {
    await state.adoptRecordedStatus(records.pauseIdle({ projectId }));
    if (state.status === 'abandoned') return wake();
    phases.releaseBrake();
    await phases.syncWithRecord();
    state.deliverInBackground(state.signalActive());
  });
}
