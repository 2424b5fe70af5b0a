/**
 * One start of a phase: it walks the step graph. `run-step.ts` runs a step, `step-work.ts` does its work, and `gate.ts`
 * waits at gates. Each beginning and end of a step is decided in the record, under its project's lock; this workflow only
 * knows what is under way. So a pause holds from the moment its row says so, and a start that was overtaken writes nothing.
 */
import {
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  isCancellation,
  workflowInfo,
} from '@temporalio/workflow';
import type { StepRef } from '../../src/resources/projects/model.ts';
import { askUntilResumed, readRecord } from './ask-record.ts';
import { handleSignals } from './handle-signals.ts';
import type { PhaseInput, PhaseResult } from './messages.ts';
import { failureOf } from './project-signals.ts';
import { startBegunSteps, startStep } from './run-step.ts';
import { createPhaseState, type PhaseState } from './state.ts';

export async function phase(input: PhaseInput): Promise<PhaseResult> {
  const state = createPhaseState(input);
  handleSignals(state);
  const { details, isIdle, signals } = state;
  const result = await runSteps(state).catch(async (error: unknown) => {
    // Runs that are being cancelled record that themselves, for which they need a parent that is still there.
    if (isCancellation(error)) await CancellationScope.nonCancellable(() => condition(isIdle));
    details.broken(error);
    throw error;
  });
  details.ended(result.status);
  if (state.isDetached) await signals.signalEnd(result);
  if (result.status === 'failed') throw failureOf(result);
  return result;
}

async function runSteps(state: PhaseState): Promise<PhaseResult> {
  const { graph, records, ref } = state;
  const opened = await openPhase(state);
  if (!opened || opened.kind === 'superseded') return resultOf(state, 'superseded');
  if (opened.kind === 'not_yet') return resultOf(state, 'not_yet');
  loadSteps(state, opened.steps);
  startBegunSteps(state, opened.begun);
  for (;;) {
    if (mayContinueAsNew(state)) await continuePhaseAsNew(state);
    if (state.isBehind) await readRecord(state);
    for (const step of graph.ready()) startStep(state, step);
    await condition(() => state.hasNews() || state.isIdle() || graph.ready().length > 0);
    if (state.stepError !== undefined) throw state.stepError;
    if (state.over) {
      state.scope.cancel();
      await condition(state.isIdle);
      return resultOf(state, state.over);
    }
    if (!state.isIdle() || graph.ready().length > 0) continue;
    const ending = state.closed ?? (await records.closePhase(ref));
    if (ending.kind === 'superseded') return resultOf(state, 'superseded');
    if (ending.kind === 'ended') return resultOf(state, ending.status, ending.costUsd);
    graph.load(ending.steps);
    if (graph.ready().length === 0) throw stuckFailure(state);
  }
}

function openPhase(state: PhaseState) {
  const { granted, records, ref } = state;
  const { slug } = state.input;
  return askUntilResumed(state, { key: slug, slug, isGranted: () => granted.size > 0 }, () =>
    records.openPhase({ ...ref, granted: [...granted][0] ?? null, key: state.nextKey() }),
  );
}

/** Takes over steps that were read when the phase opened, and so are as new as everything that it was told before. */
function loadSteps(state: PhaseState, steps: readonly StepRef[]): void {
  state.isBehind = false;
  state.graph.load(steps);
}

/** Steps at gates may begin again in the next run; others would be cut off. */
const mayContinueAsNew = ({ graph, gates, input }: PhaseState): boolean =>
  graph.inFlight.size === gates.count() &&
  (workflowInfo().continueAsNewSuggested ||
    workflowInfo().historyLength > (input.continueAfterEvents ?? Number.POSITIVE_INFINITY));

function continuePhaseAsNew({ granted, input, isDetached }: PhaseState): Promise<never> {
  const { granted: _used, ...again } = input;
  const [unused] = granted;
  return continueAsNew<typeof phase>({
    ...again,
    detached: isDetached,
    ...(unused !== undefined && { granted: unused }),
  });
}

/** The phase would ask for ever. The project takes it up again, from its record. */
const stuckFailure = ({ input }: PhaseState): ApplicationFailure =>
  ApplicationFailure.nonRetryable(`phase ${input.slug}: a step is under way that nobody works on`, 'phase_stuck');

const resultOf = (
  { changes, input }: PhaseState,
  status: PhaseResult['status'],
  costUsd: string | null = null,
): PhaseResult => ({ slug: input.slug, iteration: input.iteration, status, changes, costUsd });
