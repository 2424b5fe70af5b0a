/** Starts and follows the phases of a project: each is a child workflow that outlives a run of its parent. */
import {
  ApplicationFailure,
  ChildWorkflowFailure,
  isCancellation,
  ParentClosePolicy,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { PRIORITY } from '../../src/platform/core/priority.ts';
import { phaseWorkflowId, type BoardPhase } from '../../src/resources/projects/model.ts';
import type { PhaseResult } from '../phase/messages.ts';
import { phase } from '../phase/workflow.ts';
import { createBrake } from '../shared/brake.ts';
import type { ProjectInput } from './messages.ts';
import type { ProjectState } from './state.ts';

type PhaseStart = Pick<BoardPhase, 'slug' | 'taskId'> & { iteration: number };

export type Phases = ReturnType<typeof createPhases>;

export function createPhases(state: ProjectState) {
  const { input, board, records, apply, wake, handleOf } = state;
  const { projectId } = input;
  const brake = createBrake();

  function end(result: PhaseResult): void {
    if (!board.end(result)) return;
    state.costUsd = result.costUsd ?? state.costUsd;
    if (result.status === 'not_yet') state.isBehind = true;
    // The failed phase paused the project, unless somebody has had the project go on since; the record knows.
    if (result.status === 'failed') {
      state.isUncertain = true;
      state.statusEpoch++;
    }
    apply(result.changes);
  }

  /** @returns the number of this start */
  function start(ready: BoardPhase, grantedStep?: string): number {
    const iteration = board.begin(ready);
    follow(ready, iteration, grantedStep).catch((error: unknown) => {
      // This workflow is cancelled, and its main function ends with it too.
      if (!isCancellation(error)) throw error;
    });
    return iteration;
  }

  async function follow({ slug, taskId }: BoardPhase, iteration: number, grantedStep?: string): Promise<void> {
    try {
      const child = await startPhase(input, { slug, taskId, iteration }, grantedStep);
      end(await child.result());
    } catch (error) {
      if (isCancellation(error) && !(error instanceof ChildWorkflowFailure)) throw error;
      const told = resultIn(error);
      if (told) return end(told);
      // Such an error means a start that this workflow does not remember, or a phase that somebody ended by hand.
      if (!(error instanceof WorkflowExecutionAlreadyStartedError) && !(error instanceof ChildWorkflowFailure)) {
        throw error;
      }
      await recover({ slug, taskId, iteration });
    }
  }

  /** Recovers from a phase that ended without a word, and may have left work behind. */
  async function recover({ slug, taskId, iteration }: PhaseStart): Promise<void> {
    // Whatever is left of the phase is ended, because nobody would tell it anything any more.
    await handleOf(slug, iteration)
      .cancel()
      .catch(() => {});
    const { changes, projectStatus, pause } = await records.recoverPhase({ projectId, taskId, iteration });
    board.end({ slug, iteration, status: changes.find((change) => change.slug === slug)?.status ?? 'superseded' });
    if (state.status === 'active') Object.assign(state, { status: projectStatus, pause });
    apply(changes);
  }

  /** @returns whether there were any */
  async function recoverOrphans(): Promise<boolean> {
    const orphans = board.orphans();
    await Promise.all(orphans.map(recover));
    return orphans.length > 0;
  }

  /**
   * Reads the record where it and the board have come apart; the record is right. Where that moves nothing, it waits
   * before anybody reads it again.
   */
  async function syncWithRecord(): Promise<void> {
    const hasChanged = board.sync(await records.loadBoard({ projectId }));
    const hasMoved = (await recoverOrphans()) || hasChanged;
    if (hasMoved) brake.release();
    else await brake.hold(() => state.hasNews);
    wake();
  }

  let isOver = false;
  /** Ends what is under way in an abandoned project, whoever told this workflow that it is. */
  async function endAll(): Promise<void> {
    if (isOver) return;
    isOver = true;
    await state.signalPhases((phase) => phase.cancel());
  }

  return {
    start,
    recoverOrphans,
    syncWithRecord,
    endAll,
    end,
    recover,
    releaseBrake: brake.release,
  };
}

const startPhase = (
  { projectId, customerId, workspaceId, limits, split, continueAfterEvents }: ProjectInput,
  { slug, taskId, iteration }: PhaseStart,
  grantedStep: string | undefined,
) =>
  startChild(phase, {
    workflowId: phaseWorkflowId(projectId, slug, iteration),
    args: [
      {
        projectId,
        customerId,
        workspaceId,
        taskId,
        slug,
        iteration,
        limits,
        split,
        ...(grantedStep !== undefined && { granted: grantedStep }),
        ...(continueAfterEvents !== undefined && { continueAfterEvents }),
      },
    ],
    // The phase goes on while the project's workflow continues as new.
    parentClosePolicy: ParentClosePolicy.ABANDON,
    typedSearchAttributes: workflowInfo().typedSearchAttributes,
    staticSummary: slug,
    priority: { priorityKey: PRIORITY.steps },
  });

/** @returns the result that a failed phase put into its failure */
function resultIn(error: unknown): PhaseResult | undefined {
  const cause = error instanceof ChildWorkflowFailure ? error.cause : undefined;
  return cause instanceof ApplicationFailure && cause.type === 'phase_failed'
    ? (cause.details?.[0] as PhaseResult)
    : undefined;
}
