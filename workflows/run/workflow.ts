/**
 * A run: turns of a model and the tool calls that they ask for, until there is an answer. Temporal owns the progress.
 * Postgres holds the record, which activities alone write and which readers use; hence no query handlers, and no
 * prompt, argument or result in this history.
 */
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  executeChild,
  isCancellation,
  ParentClosePolicy,
  setHandler,
  setWorkflowOptions,
  startChild,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type { TOOL_FAILED } from '../../activities/tools.ts';
import { RUN_FAILURES, type RunFailure } from '../../src/platform/core/problem.ts';
import {
  lostEffectOf,
  runWorkflowId,
  type EarlierAttempts,
  type RequestedToolCall,
  type RunError,
  type TerminalStatus,
} from '../../src/resources/runs/model.ts';
import { activitiesOf, afterAttempts, MODEL_CALL, records, TOOL_CALL } from '../shared/activities.ts';
import { whileHeld } from '../shared/held.ts';
import { untilThereIsASlot } from '../shared/patience.ts';
import { createRunDetails, type RunDetails } from './details.ts';
import { goAheadSignal, submittedSignal, type AgentRunInput } from './messages.ts';

/**
 * A run that waits for another one goes on at a signal. Should that be lost, the run looks for itself: soon at first,
 * then ever more seldom, as the other may take days.
 */
const FIRST_LOOK_MS = 30_000;
const LAST_LOOK_MS = 600_000;
const lookAfterMs = (looks: number): number => Math.min(FIRST_LOOK_MS * 2 ** looks, LAST_LOOK_MS);
/** One at a call is about six, of a history that cannot begin anew in the middle of a turn: so it is a day at most. */
const LAST_LOOK_AT_CALL_MS = 86_400_000;
/** A look is about eleven events of a history. */
const CONTINUE_AFTER_LOOKS = 100;
const CONTINUE_AFTER_TURNS = 200;
/** Failures of this type have words that the model may read. */
const TOLD: typeof TOOL_FAILED = 'tool_failed';

export async function agentRun(input: AgentRunInput): Promise<void> {
  let mayGo = false;
  const submitted = new Set<string>();
  setHandler(goAheadSignal, () => {
    mayGo = true;
  });
  setHandler(submittedSignal, (pageId) => {
    submitted.add(pageId);
  });

  const details = createRunDetails(input);
  const end = await takeTurns(input, details, {
    turn: (timeoutMs) =>
      condition(() => mayGo, timeoutMs, { summary: 'looks whether it is its turn' }).then(() => (mayGo = false)),
    submission: (pageId, timeoutMs) =>
      condition(() => submitted.has(pageId), timeoutMs, { summary: 'time limit of an answer' }),
    lostEffect: (call, timeoutMs) =>
      condition(() => submitted.has(call), timeoutMs, { summary: 'looks whether it is answered' }).then(() =>
        submitted.delete(call),
      ),
  });
  details.ended(end);
  if (end.status === 'failed') {
    const { code, message } = end.error ?? { code: 'internal_error', message: 'the run failed' };
    throw ApplicationFailure.nonRetryable(message, code);
  }
}

// Where versions of the workers are rolled out, a run ends on the one that began it. A worker without a version has a
// nameless one, and the server refuses its tasks when they say how they are versioned.
setWorkflowOptions(
  () => (workflowInfo().currentDeploymentVersion?.deploymentName ? { versioningBehavior: 'PINNED' } : {}),
  agentRun,
);

interface End {
  status: TerminalStatus;
  error?: RunError;
}

/** How a run waits, and tells of it. */
interface Waiting {
  details: RunDetails;
  until: Until;
}

/** A run waits for these in the world. */
interface Until {
  /** Its turn in the conversation comes. */
  turn(timeoutMs: number): Promise<unknown>;
  submission(pageId: string, timeoutMs: number): Promise<unknown>;
  /** A person says whether a call took effect. */
  lostEffect(call: string, timeoutMs: number): Promise<unknown>;
}

const attemptsHere = (earlier: EarlierAttempts | undefined): number => (earlier?.made ?? 0) - (earlier?.elsewhere ?? 0);

async function takeTurns(input: AgentRunInput, details: RunDetails, until: Until): Promise<End> {
  const { earlier: _, ...withoutEarlier } = input;
  const { runId, limits } = input;
  const { models } = activitiesOf(input.split);
  const firstTurn = input.turn ?? 1;
  try {
    for (let turn = firstTurn, looks = 0, earlier = input.earlier; ;) {
      const options = { summary: `turn ${turn}`, ...afterAttempts(MODEL_CALL, attemptsHere(earlier)) };
      details.asksModel(turn);
      const outcome = await models.takeTurn.executeWithOptions(options, [
        { runId, turn, limits, ...(earlier && { earlier }) },
      ]);
      switch (outcome.kind) {
        case 'ended':
          return outcome;
        case 'again':
          ({ earlier } = outcome);
          break;
        case 'waiting':
          details.waitsForTurn(outcome);
          if (outcome.behind === null) {
            ({ earlier } = outcome);
            await until.turn(outcome.lookMs);
          } else {
            await until.turn(lookAfterMs(looks));
          }
          looks++;
          if (looks >= (input.continueAfterTurns ?? CONTINUE_AFTER_LOOKS)) {
            await continueAsNew<typeof agentRun>({ ...withoutEarlier, turn, ...(earlier && { earlier }) });
          }
          break;
        case 'tools':
          details.callsTools(turn, outcome.calls);
          await Promise.all(outcome.calls.map((call) => callTool(input, call, { details, until })));
          turn++;
          earlier = undefined;
          if (
            workflowInfo().continueAsNewSuggested ||
            turn - firstTurn >= (input.continueAfterTurns ?? CONTINUE_AFTER_TURNS)
          ) {
            await continueAsNew<typeof agentRun>({ ...withoutEarlier, turn });
          }
      }
    }
  } catch (error) {
    details.broken(error);
    if (isCancellation(error)) {
      const { status } = await CancellationScope.nonCancellable(() => records.endRun({ runId, status: 'cancelled' }));
      // An end that was recorded before the cancellation came stands.
      if (status === 'cancelled') throw error;
      return { status };
    }
    if (!(error instanceof ActivityFailure)) throw error;
    const cause = errorOf(error);
    const { status } = await CancellationScope.nonCancellable(() =>
      records.endRun({ runId, status: 'failed', error: cause }),
    );
    return { status, error: cause };
  }
}

/** Calls a tool. A tool that fails for good is an answer to the model, not the end of the run. */
async function callTool(
  input: AgentRunInput,
  { callId, tool, effect, dispatch }: RequestedToolCall,
  { details, until }: Waiting,
): Promise<void> {
  const { runId } = input;
  if (dispatch === 'child_run') return spawnRun(input, callId, details);
  const { tools, irreversible } = activitiesOf(input.split);
  try {
    const { callTool } = effect === 'irreversible' ? irreversible : tools;
    const wait = await untilThereIsASlot((made) =>
      callTool.executeWithOptions({ summary: tool, ...afterAttempts(TOOL_CALL, made) }, [
        { runId, callId, mayWait: true },
      ]),
    );
    if (wait && 'isLost' in wait) return await untilFoundOut(runId, { callId, tool }, { details, until });
    if (wait) {
      const told = details.waitsForPerson({ callId, tool });
      await whileHeld(input.holds, told, () => until.submission(wait.pageId, wait.timeoutMs));
      details.goOn(callId);
      await records.recordSubmission({ runId, callId, pageId: wait.pageId });
    }
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    const { cause } = error;
    const message = cause instanceof ApplicationFailure && cause.type === TOLD ? cause.message : errorOf(error).message;
    // Neither a timeout nor a stopping worker nor a broken connection tells how far an effect had come.
    const isOutcomeUnknown = effect === 'irreversible';
    const lost = await records.recordToolFailure({ runId, callId, message, isOutcomeUnknown });
    if (lost) await untilFoundOut(runId, { callId, tool }, { details, until });
  }
}

/** Waits for whoever finds out whether a call took effect, for as long as it takes. */
async function untilFoundOut(
  runId: string,
  call: Pick<RequestedToolCall, 'callId' | 'tool'>,
  { details, until }: Waiting,
): Promise<void> {
  const { callId } = call;
  details.asksWhatHappened(call);
  for (let looks = 0; ; looks++) {
    await until.lostEffect(lostEffectOf(runId, callId), Math.min(FIRST_LOOK_MS * 2 ** looks, LAST_LOOK_AT_CALL_MS));
    if (await records.isToolCallOver({ runId, callId })) return details.goOn(callId);
  }
}

async function spawnRun(
  { earlier: _, holds, ...withoutEarlier }: AgentRunInput,
  callId: string,
  details: RunDetails,
): Promise<void> {
  const { runId } = withoutEarlier;
  const child = await records.acceptChildRun({ runId, callId });
  if (!child) return; // The call was refused, and the model was told why.
  const options = {
    workflowId: runWorkflowId(child.runId),
    args: [
      { ...withoutEarlier, runId: child.runId, agent: child.agent, turn: 1, ...(child.wait && holds && { holds }) },
    ] as [AgentRunInput],
    typedSearchAttributes: workflowInfo().typedSearchAttributes,
    staticSummary: child.agent,
  };
  if (child.wait) {
    details.waitsForRun(callId, child.runId);
    // A failed child is a result too: how it ended is read from its record.
    await executeChild(agentRun, options).catch((error: unknown) => {
      if (isCancellation(error) && CancellationScope.current().consideredCancelled) throw error;
    });
    details.goOn(callId);
  } else {
    await startChild(agentRun, { ...options, parentClosePolicy: ParentClosePolicy.ABANDON });
  }
  await records.recordChildRun({ runId, callId });
}

function errorOf(failure: ActivityFailure): RunError {
  const { cause } = failure;
  if (cause instanceof ApplicationFailure) {
    const code = (RUN_FAILURES as readonly string[]).includes(cause.type ?? '')
      ? (cause.type as RunFailure)
      : 'internal_error';
    return { code, message: code === 'internal_error' ? 'an unexpected error; the worker log has it' : cause.message };
  }
  if (cause instanceof TimeoutFailure)
    return { code: 'model_timeout', message: 'no answer in time, after every retry' };
  return { code: 'internal_error', message: 'an unexpected error; the worker log has it' };
}
