/** What comes to an open gate with time: timers of Temporal, so that they last for as long as they have to. */
import { condition, uuid4 } from '@temporalio/workflow';
import { SYSTEM } from '../../src/resources/projects/model.ts';
import type { GateDecision } from '../../src/resources/projects/decisions/model.ts';
import { GATE_KIND_RULES } from '../../src/resources/templates/gates/kinds/model.ts';
import type { GateKind } from '../../src/resources/templates/model.ts';
import type { GateMoment } from '../../src/resources/templates/gates/model.ts';
import type { recordsInTurn } from '../shared/activities.ts';

interface OpenGate {
  projectId: string;
  subtaskId: string;
  /** The name of the gate in the summaries of its timers. */
  name: string;
  records: ReturnType<typeof recordsInTurn>;
  /** It was answered, or called back. */
  isOver: () => boolean;
  signalPaused: () => void;
}

/**
 * One after the other, for as long as nobody answers.
 * @returns what time has decided; nothing where somebody did, or where time decides nothing
 */
export async function runGateTimers(
  moments: readonly GateMoment[],
  { projectId, subtaskId, name, records, isOver, signalPaused }: OpenGate,
): Promise<GateDecision | undefined> {
  let passedMs = 0;
  for (const { what, nth, inMs } of moments) {
    // At least a moment: without a time-out it would wait for the answer alone.
    if (await condition(isOver, Math.max(1, inMs - passedMs), { summary: `${name}: ${what}` })) return undefined;
    passedMs = Math.max(passedMs, inMs);
    const { resolved } = await records.passGateMoment({ projectId, subtaskId, commandId: uuid4(), what, nth });
    if (resolved) return resolved.gate;
    // A deadline may have paused the project, and the gate stays open.
    if (what === 'timeout') signalPaused();
  }
  return undefined;
}

/**
 * Answers a gate when the time of its schedule has come, or the time for an answer is over.
 * @param give takes the answer
 * @returns false where somebody was faster
 */
export async function answerByTimeout(
  {
    projectId,
    subtaskId,
    gateKind,
    records,
  }: Omit<OpenGate, 'name' | 'isOver' | 'signalPaused'> & { gateKind: GateKind },
  give: (answer: GateDecision) => void,
): Promise<boolean> {
  const { decision, comment } = GATE_KIND_RULES[gateKind].atTimeout;
  const answer = {
    subtask_id: subtaskId,
    decision,
    decided_by: 'system',
    comment,
  };
  const gate = { projectId, answer, actor: SYSTEM, gateKind: null, commandId: uuid4(), isLenient: true };
  const outcome = await records.resolveGate(gate);
  if (outcome.resolved) give(outcome.resolved.gate);
  return outcome.resolved !== null;
}
