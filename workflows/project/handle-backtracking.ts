/** Handles updates with which people have work of a project done again: a step, a phase, or all that an edit asks for. */
import { setHandler } from '@temporalio/workflow';
import { stepRetriedSignal } from '../phase/messages.ts';
import { editSessionUpdate, retriggerUpdate, retrySubtaskUpdate, revertUpdate } from './messages.ts';
import type { ProjectState } from './state.ts';

export function handleBacktracking(state: ProjectState): void {
  const { records, command, apply, deliverInBackground, signalPhase, unlessEnded, onPhase } = state;
  const { projectId } = state.input;

  setHandler(
    retrySubtaskUpdate,
    ({ actor, subtaskId }) =>
      command(async (commandId) => {
        const { change, inFlight, phaseSlug } = await records.retrySubtask({ projectId, subtaskId, actor, commandId });
        if (change) apply([change]);
        else if (inFlight) {
          deliverInBackground(signalPhase(phaseSlug, (phase) => phase.signal(stepRetriedSignal, { subtaskId })));
        }
      }),
    { validator: unlessEnded('subtaskId') },
  );

  setHandler(
    retriggerUpdate,
    ({ actor, phaseSlug, cascade }) =>
      command(async (commandId) => {
        const retrigger = { projectId, phaseSlug, cascade, actor, commandId };
        const { changes, ...result } = await records.retriggerPhase(retrigger);
        state.reopen();
        apply(changes);
        return result;
      }),
    { validator: onPhase('cascade') },
  );

  setHandler(
    revertUpdate,
    ({ actor, phaseSlug, targetVersion, cascade }) =>
      command(async (commandId) => {
        const revert = { projectId, phaseSlug, targetVersion, cascade, actor, commandId };
        const { changes, ...result } = await records.revertArtifact(revert);
        state.reopen();
        apply(changes);
        return result;
      }),
    { validator: onPhase('targetVersion', 'cascade') },
  );

  setHandler(
    editSessionUpdate,
    ({ actor, cascade }) =>
      command(async (commandId) => {
        const { change, ...ids } = await records.startEditSession({ projectId, cascade, actor, commandId });
        state.reopen();
        apply([change]);
        return ids;
      }),
    { validator: unlessEnded('cascade') },
  );
}
