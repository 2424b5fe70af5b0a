/** Handles answers to the gates of a project: the world and the API go one way, and the first decision wins. */
import { getExternalWorkflowHandle, setHandler, uuid4 } from '@temporalio/workflow';
import { present } from '../../src/platform/core/present.ts';
import type { GateOutcome } from '../../src/resources/projects/decisions/model.ts';
import { projectWorkflowId } from '../../src/resources/projects/model.ts';
import { discardSignal, gateResolvedSignal } from '../phase/messages.ts';
import { resolveGateSignal, resolveGateUpdate, resolvePlanUpdate } from './messages.ts';
import type { ProjectState } from './state.ts';

export function handleGates(state: ProjectState): void {
  const { board, records, command, apply, wake, deliverInBackground, signalPhase, signalActive, unlessEnded } = state;
  const { projectId } = state.input;

  function passOn({ gate, phaseSlug, reactivated }: GateOutcome<'resolved'>): void {
    if (gate.effect === 'fail') state.become('paused', 'gate_rejected');
    if (reactivated) state.become('active');
    board.answer(phaseSlug, gate.subtaskId);
    deliverInBackground(signalPhase(phaseSlug, (phase) => phase.signal(gateResolvedSignal, gate)));
    if (reactivated) deliverInBackground(signalActive());
    wake();
  }

  setHandler(
    resolveGateUpdate,
    ({ actor, gateKind, seen, ...answer }) =>
      command(async (commandId) => {
        const gate = { projectId, answer, actor, gateKind, commandId, isLenient: false, ...(seen && { seen }) };
        const { resolved, projectStatus } = await records.resolveGate(gate);
        // One of several approvals that are asked for, and not the last.
        if (resolved) passOn(resolved);
        return { projectStatus: resolved?.projectStatus ?? present(projectStatus) };
      }),
    { validator: unlessEnded('subtask_id', 'decision', 'gateKind') },
  );

  setHandler(resolveGateSignal, async (answer) => {
    const decidedBy = typeof answer?.decided_by === 'string' ? answer.decided_by : 'signal';
    const actor = { kind: 'external' as const, id: decidedBy };
    // The answer gets a name of its own, as an update has one: repeated after it was recorded, it is told the same and
    // not that it lost.
    const gate = { projectId, answer, actor, gateKind: null, commandId: uuid4(), isLenient: true };
    const { resolved } = await records.resolveGate(gate);
    state.statusEpoch++;
    if (resolved) passOn(resolved);
  });

  setHandler(
    resolvePlanUpdate,
    ({ actor, taskId, decision, decidedBy, seen }) =>
      command(async (commandId) => {
        const plan = { projectId, taskId, decision, decidedBy, actor, commandId, ...(seen && { seen }) };
        const { resolved, discarded } = await records.resolveEditPlan(plan);
        if (!discarded) return passOn(present(resolved));
        const { change, reactivated } = discarded;
        if (reactivated) state.become('active');
        apply([change]);
        deliverInBackground(signalPhase(change.slug, (phase) => phase.signal(discardSignal)));
        if (reactivated) deliverInBackground(signalActive());
      }),
    { validator: unlessEnded('taskId', 'decision', 'decidedBy') },
  );
}

/** Answers gates of other projects that wait for the end of this one. */
export const answerWaiters = (
  projectId: string,
  waiters: readonly { projectId: string; subtaskId: string }[],
  decision: 'approved' | 'rejected',
): Promise<unknown> =>
  Promise.all(
    waiters.map((waiter) =>
      getExternalWorkflowHandle(projectWorkflowId(waiter.projectId))
        .signal(resolveGateSignal, {
          subtask_id: waiter.subtaskId,
          decision,
          decided_by: 'system',
          comment: `project ${projectId} is ${decision === 'approved' ? 'completed' : 'abandoned'}`,
        })
        .catch(() => {}),
    ),
  );
