/**
 * A project: its phase graph, each phase a child workflow, and whatever people ask of it deliverInBackground.
 *
 * Temporal owns the progress. Postgres holds the record, which activities alone write, under a lock on the project's
 * row; so it is there that two commands, or a command and a phase, are put in an order. The board here is what the
 * workflow needs to go on, and what an operator sees. Hence no query handlers.
 *
 * Phases outlive one run of this workflow: it continues as new with them under way, and they report by signal.
 */
import { condition, continueAsNew, isCancellation, workflowInfo } from '@temporalio/workflow';
import { detachSignal } from '../phase/messages.ts';
import { handleBacktracking } from './handle-backtracking.ts';
import { handleControl } from './handle-control.ts';
import { answerWaiters, handleGates } from './handle-gates.ts';
import { handlePhaseSignals } from './handle-phase-signals.ts';
import type { ProjectInput } from './messages.ts';
import { createPhases, type Phases } from './phases.ts';
import { createState, type ProjectState } from './state.ts';

/** The server takes 2,000 updates of one run; the workflow continues as new well before that. */
const MAX_UPDATES = 1_000;
/** A workflow that was started for a command waits this long for it. */
const FOR_ITS_COMMAND = '30s';

export async function project(input: ProjectInput): Promise<void> {
  const state = createState(input);
  const phases = createPhases(state);
  // The order matters: what came before there was a handler is handled as soon as there is one.
  handleControl(state, phases);
  handleBacktracking(state);
  handleGates(state);
  handlePhaseSignals(state, phases);

  const { projectId } = input;
  if (state.status === 'planning') await state.adoptRecordedStatus(state.records.startProject({ projectId }));
  // Somebody ended another run of this workflow while these phases were under way.
  await phases.recoverOrphans();
  // The workflow was started to carry out a command, which is on its way.
  if (state.status === 'completed')
    await condition(() => state.updates > 0, FOR_ITS_COMMAND, { summary: 'command that started it' });

  for (;;) {
    state.hasNews = false;
    await advanceProject(state, phases);
    state.show();
    if (hasEnded(state)) {
      if (state.status === 'abandoned') await phases.endAll();
      await condition(state.isSettled);
      if (hasEnded(state)) return state.show();
      continue;
    }
    if (isFull(state)) await continueProjectAsNew(state);
    await condition(() => state.hasNews || isFull(state));
  }
}

const hasEnded = ({ status }: ProjectState): boolean => status === 'completed' || status === 'abandoned';

const isFull = ({ input, updates }: ProjectState): boolean =>
  workflowInfo().continueAsNewSuggested ||
  updates >= MAX_UPDATES ||
  workflowInfo().historyLength > (input.continueAfterEvents ?? Number.POSITIVE_INFINITY);

/** Starts what can begin; ends the project when nothing is left to do; pauses it when only a person can help. */
async function advanceProject(state: ProjectState, phases: Phases): Promise<void> {
  const { board, records, adoptRecordedStatus } = state;
  const { projectId } = state.input;
  while (state.isUncertain) await adoptRecordedStatus(records.pauseIdle({ projectId }));
  while (state.isBehind) {
    state.isBehind = false;
    await phases.syncWithRecord();
  }
  if (state.status === 'active') for (const ready of board.ready()) phases.start(ready);
  if (state.status !== 'active' || board.inFlight.size > 0) return;
  if (board.isFinished()) return complete(state, phases);
  if (board.ready().length === 0) {
    await adoptRecordedStatus(records.pauseIdle({ projectId }));
    if (isActive(state)) await phases.syncWithRecord();
  }
}

/** It is a function because the status changes while something is waited for. */
const isActive = ({ status }: ProjectState): boolean => status === 'active';

async function complete(state: ProjectState, phases: Phases): Promise<void> {
  const { projectId } = state.input;
  const ending = await state.adoptRecordedStatus(state.records.completeProject({ projectId }));
  if (ending.completed) await answerWaiters(projectId, ending.waiters, 'approved');
  else if (isActive(state)) await phases.syncWithRecord();
}

/** Continues as new once every phase under way knows that it is to report by signal from then on. */
async function continueProjectAsNew(state: ProjectState): Promise<void> {
  const { input, board, isSettled, handleOf } = state;
  const detached = new Set<string>(input.inFlight?.map(({ slug, iteration }) => `${slug}/${iteration}`));
  for (;;) {
    await condition(isSettled);
    const [next] = [...board.inFlight].filter(([slug, iteration]) => !detached.has(`${slug}/${iteration}`));
    if (!next) break;
    const [slug, iteration] = next;
    try {
      await handleOf(slug, iteration).signal(detachSignal);
      detached.add(`${slug}/${iteration}`);
    } catch (error) {
      if (isCancellation(error)) throw error;
      // The phase has ended, and this run of the workflow is about to hear of it.
      await condition(() => board.inFlight.get(slug) !== iteration);
    }
  }
  const { status, pause, costUsd } = state;
  const { pause: _, ...again } = input;
  await continueAsNew<typeof project>({
    ...again,
    phases: board.phases,
    status,
    ...(pause && { pause }),
    costUsd,
    inFlight: board.listInFlight(),
  });
}
