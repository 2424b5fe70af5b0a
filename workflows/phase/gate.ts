/** Waits at a gate, from the moment when it opens until somebody, time, or the record has decided. */
import { condition } from '@temporalio/workflow';
import type { StepRef } from '../../src/resources/projects/model.ts';
import type { GateDecision } from '../../src/resources/projects/decisions/model.ts';
import { answerByTimeout, runGateTimers } from './gate-timers.ts';
import type { PhaseState } from './state.ts';
import type { Begun } from './step-work.ts';

export async function waitAtGate(state: PhaseState, step: StepRef, begun: Begun<'gate'>): Promise<void> {
  const { details, gates, graph, signals } = state;
  const { subtaskId } = step;
  gates.open(subtaskId);
  await signals.signalGate(subtaskId, details.atGate(step, begun));
  const isTimeoutAnswer = await waitForAnswer(state, step, begun);
  const { answer, status } = gates.close(subtaskId);
  // The project takes a gate that it answered off its board by itself, before what follows may take the place.
  if (!answer || isTimeoutAnswer) await signals.signalGate(subtaskId, null);
  if (!answer && status) return graph.set(subtaskId, status);
  applyAnswer(state, subtaskId, answer);
}

/** @returns whether time gave the answer */
async function waitForAnswer(
  { gates, records, ref, signals }: PhaseState,
  { subtaskId, slug }: StepRef,
  { gateKind, waitMs, moments }: Begun<'gate'>,
): Promise<boolean> {
  const isOver = () => gates.isOver(subtaskId);
  const gate = { projectId: ref.projectId, subtaskId, name: slug, records, isOver, signalPaused: signals.signalPaused };
  const decided = moments ? await runGateTimers(moments, gate) : undefined;
  if (decided) gates.answer(decided);
  const inTime =
    waitMs === null
      ? condition(isOver).then(() => true)
      : condition(isOver, waitMs, { summary: `${slug}: ${gateKind} gate` });
  const isTimeoutAnswer =
    decided !== undefined || (!(await inTime) && (await answerByTimeout({ ...gate, gateKind }, gates.answer)));
  await condition(isOver);
  return isTimeoutAnswer;
}

/** @param answer is undefined where the gate was reopened */
function applyAnswer({ graph, reopen }: PhaseState, subtaskId: string, answer: GateDecision | undefined): void {
  switch (answer?.effect) {
    case 'pass':
      return graph.set(subtaskId, 'succeeded');
    case 'fail':
      return graph.set(subtaskId, 'failed');
    case 'skip':
      graph.set(subtaskId, 'succeeded');
      return graph.skipRest();
    case 'rework':
    case undefined:
      graph.set(subtaskId, 'pending');
      reopen({ reset: answer?.reset ?? [] });
  }
}
