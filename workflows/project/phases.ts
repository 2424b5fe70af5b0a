/** Starts and follows the phases of a project: each is a child workflow that outlives a run of its parent. */
import {
  ApplicationFailure,
  ChildWorkflowFailure,
  isCancellation,
  ParentClosePolicy,
  setHandler,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { PRIORITY } from '../../src/platform/core/priority.ts';
import { phaseWorkflowId, type BoardPhase } from '../../src/resources/projects/model.ts';
import { phaseEndedSignal, type PhaseInput, type PhaseResult } from '../phase/messages.ts';
import { phase } from '../phase/workflow.ts';
import { createBrake } from '../shared/brake.ts';
import { phaseHeldSignal, phaseLostSignal, phaseStatusSignal, recheckSignal } from './messages.ts';
import type { ProjectState } from './state.ts';

type PhaseStart = Pick<BoardPhase, 'slug' | 'taskId'> & { iteration: number };

export type Phases = ReturnType<typeof createPhases>;

export function createPhases(state: ProjectState) {
  const { input, board, records, apply, wake, handleOf } = state;
  const { projectId } = input;
  const brake = createBrake();

  function ended(result: PhaseResult): void {
    if (!board.end(result)) return;
    state.costUsd = result.costUsd ?? state.costUsd;
    if (result.status === 'not_yet') state.isBehind = true;
    // The failed phase paused the project, unless somebody has had the project go on since; the record knows.
    if (result.status === 'failed') {
      state.isUncertain = true;
      state.turns++;
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
    const { customerId, workspaceId, limits, split, continueAfterEvents } = input;
    const args: PhaseInput = {
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
    };
    try {
      const child = await startChild(phase, {
        workflowId: phaseWorkflowId(projectId, slug, iteration),
        args: [args],
        // The phase goes on while this workflow continues as new.
        parentClosePolicy: ParentClosePolicy.ABANDON,
        typedSearchAttributes: workflowInfo().typedSearchAttributes,
        staticSummary: slug,
        priority: { priorityKey: PRIORITY.steps },
      });
      ended(await child.result());
    } catch (error) {
      if (isCancellation(error) && !(error instanceof ChildWorkflowFailure)) throw error;
      const told = resultIn(error);
      if (told) return ended(told);
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
    await state.tellPhases((phase) => phase.cancel());
  }

  return {
    start,
    recoverOrphans,
    syncWithRecord,
    endAll,

    /** Listens to what phases, and housekeeping, tell the project. */
    listen(): void {
      setHandler(phaseStatusSignal, (told) => {
        board.note(told);
        wake();
      });
      setHandler(phaseHeldSignal, async (told) => {
        board.hold(told);
        wake();
        if (!told.isPaused || state.status !== 'active') return;
        await state.believe(records.pauseIdle({ projectId }));
        wake();
      });
      setHandler(phaseEndedSignal, ended);
      setHandler(phaseLostSignal, async (lost) => {
        if (board.inFlight.get(lost.slug) === lost.iteration) await recover(lost);
      });
      setHandler(recheckSignal, async () => {
        await state.believe(records.pauseIdle({ projectId }));
        if (state.status === 'abandoned') return wake();
        brake.release();
        await syncWithRecord();
        state.meanwhile(state.tellActive());
      });
    },
  };
}

/** @returns the result that a failed phase put into its failure */
function resultIn(error: unknown): PhaseResult | undefined {
  const cause = error instanceof ChildWorkflowFailure ? error.cause : undefined;
  return cause instanceof ApplicationFailure && cause.type === 'phase_failed'
    ? (cause.details?.[0] as PhaseResult)
    : undefined;
}
