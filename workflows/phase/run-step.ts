/** Runs a step from its beginning, which the record decides, to its end, with which the steps behind it may begin. */
import { present } from '../../src/platform/core/present.ts';
import { ENACT_ACTION, type AttemptFault, type StepRef } from '../../src/resources/projects/model.ts';
import { askUntilResumed, readRecord } from './ask-record.ts';
import { waitAtGate } from './gate.ts';
import type { PhaseState } from './state.ts';
import { runAction, runAgent, type ActionRef, type Beginning, type Begun } from './step-work.ts';

/** @param begun is set where the step began in the transaction that ended what it waited for */
export function startStep(state: PhaseState, step: StepRef, begun?: Beginning): void {
  const { details, graph, scope, signals } = state;
  graph.inFlight.add(step.subtaskId);
  scope
    .run(() => runStep(state, step, begun))
    .catch((error: unknown) => void (state.stepError ??= error))
    .finally(() => {
      graph.inFlight.delete(step.subtaskId);
      details.goOn(step.subtaskId);
      state.stepsEnded++;
      if (graph.hasFailed() && graph.inFlight.size > 0) signals.signalPaused();
    });
}

export function startBegunSteps(
  state: PhaseState,
  begun: readonly { subtaskId: string; beginning: Beginning }[],
): void {
  for (const { subtaskId, beginning } of begun) startStep(state, present(state.graph.find(subtaskId)), beginning);
}

async function runStep(state: PhaseState, step: StepRef, begunBefore?: Beginning): Promise<void> {
  const { details, gates, granted, graph, records, ref, signals } = state;
  const { subtaskId, slug } = step;
  let isGranted = begunBefore !== undefined && granted.delete(subtaskId);
  if (step.status === 'pending') gates.dropAnswer(subtaskId);
  const key = begunBefore ? '' : state.nextKey();
  const endedBefore = state.stepsEnded;
  const begun =
    begunBefore ??
    (await askUntilResumed(state, { key: subtaskId, slug, isGranted: () => granted.has(subtaskId) }, () => {
      isGranted = granted.delete(subtaskId);
      return records.beginAttempt({ ...ref, subtaskId, key, granted: isGranted });
    }));
  if (!begun) return;
  if (begun.kind !== 'not_yet' && begun.kind !== 'put_back')
    graph.set(subtaskId, begun.kind === 'gate' ? 'blocked' : 'running');
  switch (begun.kind) {
    case 'superseded':
      return state.supersede();
    case 'not_yet':
      await readRecord(state, subtaskId);
      if (isGranted) await signals.signalStepEnded(subtaskId);
      details.early(step);
      return holdStep(state, subtaskId, endedBefore);
    case 'put_back':
      state.over = 'not_yet';
      return;
    case 'misconfigured':
      graph.set(subtaskId, 'failed');
      break;
    case 'gate_passed':
      graph.set(subtaskId, 'succeeded');
      break;
    case 'gate':
      if (isGranted) await signals.signalStepEnded(subtaskId);
      return waitAtGate(state, step, begun);
    case 'agent':
      details.atWork(step, begun);
      await settleStep(state, step, { attemptId: begun.attemptId, fault: await runAgent(state.input, step, begun) });
      break;
    case 'action': {
      details.atWork(step, begun);
      const { attemptId } = begun;
      await settleStep(state, step, { attemptId, fault: await act(state, { ...ref, subtaskId, attemptId }, begun) });
      break;
    }
    default:
      begun satisfies never;
  }
  if (isGranted) await signals.signalStepEnded(subtaskId);
}

/** Lets the step ask again when something has ended, or after a while: what it waits for may be before its phase. */
const holdStep = (state: PhaseState, subtaskId: string, endedBefore: number): Promise<void> | void =>
  state.graph.couldStart(subtaskId)
    ? state.brake.hold(() => state.over !== undefined || state.isBehind || state.stepsEnded > endedBefore)
    : state.brake.release();

/** Does the work of an action. It is not async, because its promises must end in the order that a replay knows. */
const act = (state: PhaseState, work: ActionRef, begun: Begun<'action'>): Promise<AttemptFault | undefined> =>
  begun.action === ENACT_ACTION ? enactPlan(state, work) : runAction(work, begun, state.input.split);

async function enactPlan({ changes, records }: PhaseState, work: ActionRef): Promise<undefined> {
  changes.push(...(await records.enactPlan(work)));
}

/** Records the end of an attempt, and starts the steps that have begun with it. */
async function settleStep(
  state: PhaseState,
  { subtaskId }: StepRef,
  { attemptId, fault }: { attemptId: string; fault: AttemptFault | undefined },
): Promise<void> {
  const { graph, records, ref } = state;
  const { outcome, begun, ending } = await records.settleAttempt({
    ...ref,
    attemptId,
    ...(fault && { fault }),
    isLast: graph.isLast(subtaskId),
    next: graph.readyAfter(subtaskId).map((step) => ({ subtaskId: step.subtaskId, key: state.nextKey() })),
  });
  switch (outcome.kind) {
    case 'succeeded':
      graph.set(subtaskId, 'succeeded');
      if (ending?.kind === 'ended') state.closed = ending;
      return startBegunSteps(state, begun);
    case 'failed':
      state.reopen(outcome);
      return graph.set(subtaskId, 'failed');
    case 'again':
      graph.set(subtaskId, 'pending');
      return state.reopen(outcome);
    case 'superseded':
      state.supersede();
  }
}
