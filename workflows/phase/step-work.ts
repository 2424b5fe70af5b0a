/** Does the work of a phase's steps: an agent step is a run of its own, an action step an activity. */
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  ChildWorkflowFailure,
  executeChild,
  isCancellation,
  sleep,
  ParentClosePolicy,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { ACTION_FAILED } from '../../activities/projects.ts';
import { present } from '../../src/platform/core/present.ts';
import { PRIORITY } from '../../src/platform/core/priority.ts';
import type { AttemptBeginning, AttemptFault, PhaseRef, StepRef } from '../../src/resources/projects/model.ts';
import { runWorkflowId } from '../../src/resources/runs/model.ts';
import type { AgentRunInput } from '../run/messages.ts';
import { agentRun } from '../run/workflow.ts';
import { activitiesOf, afterAttempts, TOOL_CALL } from '../shared/activities.ts';
import { untilThereIsASlot } from '../shared/patience.ts';
import { foundByAgent } from '../shared/search-attributes.ts';
import type { PhaseInput } from './messages.ts';

/** Every answer of the record but the one to ask again later. */
export type Beginning = Exclude<AttemptBeginning, { kind: 'paused' }>;
export type Begun<Kind> = Extract<Beginning, { kind: Kind }>;

/** One attempt at an action step. */
export interface ActionRef extends PhaseRef {
  subtaskId: string;
  attemptId: string;
}

/** Failures of this type have a reason that may be told. */
const REFUSED: typeof ACTION_FAILED = 'action_failed';

/** @returns how it went wrong, where the run's own record does not say */
export async function runAgent(
  input: PhaseInput,
  { slug: stepSlug }: StepRef,
  { runId, agent, timeoutMs }: Begun<'agent'>,
): Promise<AttemptFault | undefined> {
  const { customerId, workspaceId, limits, split, projectId, slug, iteration } = input;
  const holds = { projectId, slug, iteration, step: stepSlug };
  const args: [AgentRunInput] = [{ runId, customerId, workspaceId, agent, limits, split, holds }];
  const scope = new CancellationScope();
  try {
    await within(scope, { timeoutMs, summary: `time limit of ${stepSlug}` }, () =>
      executeChild(agentRun, {
        workflowId: runWorkflowId(runId),
        args,
        typedSearchAttributes: foundByAgent(agent),
        parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
        staticSummary: `${stepSlug} (${agent})`,
        priority: { priorityKey: PRIORITY.steps },
      }),
    );
    return undefined;
  } catch (error) {
    if (isCancellation(error)) {
      if (CancellationScope.current().consideredCancelled) throw error;
      return scope.consideredCancelled
        ? { kind: 'timeout', message: `not done after ${present(timeoutMs) / 1_000} s, which is the step's timeout_s` }
        : { kind: 'cancelled', message: 'its run was cancelled' };
    }
    if (!(error instanceof ChildWorkflowFailure)) throw error;
    // A run that failed has said so in its record.
    return error.cause instanceof ApplicationFailure
      ? undefined
      : { kind: 'crash', message: `its run ended without an outcome: ${error.cause?.name ?? 'unknown cause'}` };
  }
}

/**
 * Works in a scope that is cancelled after this time. A scope's own `timeout` does the same, turn by turn, with a timer
 * that has no summary.
 */
const within = <T>(
  scope: CancellationScope,
  { timeoutMs, summary }: { timeoutMs: number | null; summary: string },
  work: () => Promise<T>,
): Promise<T> =>
  scope.run(() => {
    if (timeoutMs === null) return work();
    const limit = new CancellationScope();
    limit
      .run(() => sleep(timeoutMs, { summary }))
      .then(
        () => scope.cancel(),
        () => {},
      );
    const result = work();
    const stop = (): void => {
      if (!limit.consideredCancelled) limit.cancel();
    };
    result.then(stop, stop);
    return result;
  });

/** @returns how it went wrong; what it made is in the record */
export async function runAction(
  work: ActionRef,
  { action, effect, timeoutMs }: Begun<'action'>,
  split: boolean,
): Promise<AttemptFault | undefined> {
  const { tools, irreversible } = activitiesOf(split);
  const chosen = effect === 'irreversible' ? irreversible : tools;
  const options = { summary: action, ...(timeoutMs !== null && { startToCloseTimeout: timeoutMs }) };
  try {
    await untilThereIsASlot((made) =>
      chosen.runAction.executeWithOptions({ ...options, ...afterAttempts(TOOL_CALL, made) }, [
        { ...work, mayWait: true },
      ]),
    );
    return undefined;
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    const { cause } = error;
    if (cause instanceof ApplicationFailure && cause.type === REFUSED) {
      return { kind: 'failed', message: cause.message };
    }
    // Neither a timeout nor a broken connection tells how far an effect had come.
    if (effect === 'irreversible') return { kind: 'crash', message: 'its outcome is unknown' };
    if (cause instanceof TimeoutFailure && cause.timeoutType === 'START_TO_CLOSE') {
      return { kind: 'timeout', message: 'not done in time' };
    }
    if (cause instanceof TimeoutFailure) return { kind: 'crash', message: 'its worker died' };
    return { kind: 'failed', message: 'an unexpected error; the worker log has it' };
  }
}
