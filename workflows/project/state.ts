/**
 * The state of a project's workflow, and how it changes. The record is in Postgres; this is what the workflow needs to
 * go on, and what an operator sees.
 */
import { ActivityFailure, ApplicationFailure, currentUpdateInfo } from '@temporalio/workflow';
import { present } from '../../src/platform/core/present.ts';
import type { Pause, PhaseChange, ProjectStatus } from '../../src/resources/projects/model.ts';
import { resumedSignal } from '../phase/messages.ts';
import { recordsInTurn } from '../shared/activities.ts';
import { createDetails } from '../shared/details.ts';
import { createBoard } from './board.ts';
import type { ProjectInput } from './messages.ts';
import { createPhaseSignals } from './phase-signals.ts';
import { createValidators } from './validators.ts';

export type ProjectState = ReturnType<typeof createState>;

export function createState(input: ProjectInput) {
  const board = createBoard(input.phases, input.inFlight ?? []);
  const signals = createPhaseSignals(input.projectId, board.inFlight);
  const records = recordsInTurn();
  const details = createDetails(() => board.render(state));
  const resume = `\`aos project resume ${input.projectId}\``;
  const inbox = `\`aos inbox --project ${input.projectId}\``;

  const state = {
    input,
    records,
    board,
    ...signals,
    ...createValidators(board, (): ProjectStatus => state.status),
    status: input.status as ProjectStatus,
    /** Why it is paused, as far as that is known here. */
    pause: input.pause,
    costUsd: input.costUsd ?? '0',
    /** So many commands were sent to this run of the workflow. */
    updates: 0,
    /** It grows with whatever may move the status, and so tells whether something may have moved it in the meantime. */
    statusEpoch: 0,
    /** Says that something happened which the main loop should look at. */
    hasNews: true,
    /** Says that the status is to be read from the record. */
    isUncertain: false,
    /** Says that a phase could not begin by the record, which the board is to agree with before another one starts. */
    isBehind: false,

    /** Tells an operator how the project stands. */
    show(): void {
      const { status, pause } = state;
      if (status === 'paused') {
        details.waitFor('paused', {
          what: `the project is paused${pause ? ` (${pause.reason})` : ''}`,
          since: pause?.since,
          // The inbox has what waits for a person, and not what a person stopped.
          answers: pause?.reason === 'requested' ? [resume] : [resume, inbox],
        });
      } else details.goOn('paused');
      details.show();
    },

    /** @param reason as far as it is known before the record is read */
    become(status: ProjectStatus, reason?: Pause['reason']): void {
      state.status = status;
      if (state.pause?.reason !== reason) state.pause = reason && { reason, since: new Date().toISOString() };
    },

    /** Makes the main loop look at what there is. */
    wake(): void {
      state.hasNews = true;
      state.show();
    },

    /** Takes over what an activity has recorded. */
    apply(changes: readonly PhaseChange[]): void {
      board.apply(changes);
      state.wake();
    },

    /** Tells every phase under way that the project is active again. */
    signalActive: (): Promise<unknown> => signals.signalPhases((phase) => phase.signal(resumedSignal)),

    /** Work was added, so a completed project goes on; one that is paused stays paused. */
    reopen(): void {
      if (state.status === 'completed') state.become('active');
    },

    /** Runs a command under the id of its update, and gives a refusal to whoever sent it. */
    async command<T>(work: (commandId: string) => Promise<T>): Promise<T> {
      state.updates++;
      state.statusEpoch++;
      try {
        return await work(present(currentUpdateInfo()).id);
      } catch (error) {
        if (error instanceof ActivityFailure && error.cause instanceof ApplicationFailure) throw error.cause;
        throw error;
      } finally {
        state.statusEpoch++;
        state.wake();
      }
    },

    /** Takes the status from the record, unless a command that may be newer, or older, changed it in the meantime. */
    async adoptRecordedStatus<Told extends { status: ProjectStatus; pause?: Pause }>(
      asking: Promise<Told>,
    ): Promise<Told> {
      const before = state.statusEpoch;
      const told = await asking;
      state.isUncertain = state.statusEpoch !== before;
      if (!state.isUncertain) ({ status: state.status, pause: state.pause } = { pause: undefined, ...told });
      state.show();
      return told;
    },
  };
  return state;
}
