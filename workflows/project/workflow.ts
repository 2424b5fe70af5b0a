/**
 * A project: its phase graph, each phase a child workflow, and whatever people ask of it meanwhile.
 *
 * Temporal owns the progress. Postgres holds the record, which activities alone write, under a lock on the project's
 * row; so it is there that two commands, or a command and a phase, are put in an order. The board here is what the
 * workflow needs to go on, and what an operator sees. Hence no query handlers.
 *
 * Phases outlive one run of this workflow: it continues as new with them under way, and they report by signal.
 */
import {
  ActivityFailure,
  ApplicationFailure,
  ChildWorkflowFailure,
  condition,
  continueAsNew,
  currentUpdateInfo,
  getExternalWorkflowHandle,
  isCancellation,
  ParentClosePolicy,
  setCurrentDetails,
  setHandler,
  startChild,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { PRIORITY } from '../../src/platform/core/priority.ts';
import type { ProblemCode } from '../../src/platform/core/problem.ts';
import {
  phaseWorkflowId,
  projectWorkflowId,
  type BoardPhase,
  type GateDecision,
  type PhaseChange,
  type ProjectStatus,
} from '../../src/resources/projects/model.ts';
import {
  detachSignal,
  discardSignal,
  gateResolvedSignal,
  goOnSignal,
  grantStepSignal,
  phaseEndedSignal,
  stepRetriedSignal,
  type PhaseInput,
  type PhaseResult,
} from '../phase/messages.ts';
import { phase } from '../phase/workflow.ts';
import { recordsInTurn } from '../shared/activities.ts';
import { createBoard } from './board.ts';
import { faultOf, type CommandField } from './commands.ts';
import {
  abandonUpdate,
  editSessionUpdate,
  pauseUpdate,
  phaseLostSignal,
  phaseStatusSignal,
  recheckSignal,
  resolveGateSignal,
  resolveGateUpdate,
  resolvePlanUpdate,
  resumeUpdate,
  retriggerUpdate,
  retrySubtaskUpdate,
  revertUpdate,
  runStepUpdate,
  stepEndedSignal,
  type Command,
  type ProjectInput,
} from './messages.ts';
import { createTelling } from './telling.ts';

/** The server takes 2,000 updates of one run; well before that it continues as new. */
const MAX_UPDATES = 1_000;
/** A workflow that was started for a command waits this long for it. */
const FOR_ITS_COMMAND = '30s';

export async function project(input: ProjectInput): Promise<void> {
  const { projectId } = input;
  const records = recordsInTurn();
  const board = createBoard(input.phases, input.inFlight ?? []);
  let status: ProjectStatus = input.status;
  let costUsd = input.costUsd ?? '0';
  let updates = 0;
  /** Grows with whatever may move the status: whether something may have in the meantime. */
  let turns = 0;
  /** Something happened that the main loop should look at. */
  let isStirred = true;
  /** The status is to be read from the record. */
  let isUncertain = false;
  const detached = new Set<string>(input.inFlight?.map(({ slug, iteration }) => `${slug}/${iteration}`));
  const granted = new Set<string>();

  const stir = (): void => void (isStirred = true);
  const { handleOf, tellPhase, tellPhases, meanwhile, isSettled } = createTelling({
    projectId,
    inFlight: board.inFlight,
    answersFirst: input.answersFirst,
  });
  const goOn = (): Promise<unknown> => tellPhases((phase) => phase.signal(goOnSignal));
  function apply(changes: readonly PhaseChange[]): void {
    board.apply(changes);
    stir();
  }

  // ---- Commands ---------------------------------------------------------------------------------------------------

  const refuse = (code: ProblemCode, message: string) => ApplicationFailure.nonRetryable(message, code);
  // Validators are synchronous on purpose: a throw in an asynchronous one fails the workflow task and hangs the caller.
  // They refuse what can never be; what depends on the record is refused under its lock.
  const unlessEnded =
    (...required: CommandField[]) =>
    (command: Command): void => {
      const fault = faultOf(command, required);
      if (fault) throw refuse('bad_request', fault);
      if (status === 'abandoned') throw refuse('project_ended', 'the project was abandoned');
    };
  const onPhase =
    (...required: CommandField[]) =>
    (command: Command & { phaseSlug: string }): void => {
      unlessEnded('phaseSlug', ...required)(command);
      const { phaseSlug } = command;
      if (!board.find(phaseSlug)) throw refuse('not_found', `the project has no phase ${phaseSlug}`);
    };

  /** Runs a command under the id of its update, and gives a refusal to whoever sent it. */
  async function command<T>(work: (commandId: string) => Promise<T>): Promise<T> {
    updates++;
    turns++;
    try {
      return await work(currentUpdateInfo()!.id);
    } catch (error) {
      if (error instanceof ActivityFailure && error.cause instanceof ApplicationFailure) throw error.cause;
      throw error;
    } finally {
      turns++;
      stir();
    }
  }

  setHandler(
    pauseUpdate,
    ({ actor }) =>
      command(async (commandId) => {
        const answer = await records.pauseProject({ projectId, actor, commandId });
        status = 'paused';
        return answer;
      }),
    { validator: unlessEnded() },
  );

  setHandler(
    resumeUpdate,
    ({ actor }) =>
      command(async (commandId) => {
        const inFlightTaskIds = [...board.inFlight.keys()].map((slug) => board.find(slug)!.taskId);
        const { summary, changes } = await records.resumeProject({ projectId, actor, commandId, inFlightTaskIds });
        status = 'active';
        apply(changes);
        await meanwhile(goOn());
        return summary;
      }),
    { validator: unlessEnded() },
  );

  setHandler(
    abandonUpdate,
    ({ actor }) =>
      command(async (commandId) => {
        const { changes, waiters } = await records.abandonProject({ projectId, actor, commandId });
        status = 'abandoned';
        apply(changes);
        await meanwhile(Promise.all([tellPhases((phase) => phase.cancel()), answerWaiters(waiters, 'rejected')]));
        return { status };
      }),
    { validator: unlessEnded() },
  );

  setHandler(
    runStepUpdate,
    () =>
      command(async () => {
        const next = await records.nextStep({ projectId });
        if (!next || granted.has(next.subtaskId)) return null;
        const { subtaskId, phaseSlug } = next;
        granted.add(subtaskId);
        const iteration = await grant(next);
        await condition(() => !granted.has(subtaskId) || board.inFlight.get(phaseSlug) !== iteration);
        granted.delete(subtaskId);
        return { subtaskId };
      }),
    { validator: unlessEnded() },
  );
  /** @returns the start of the phase that was told */
  async function grant({ phaseSlug, subtaskId }: { phaseSlug: string; subtaskId: string }): Promise<number> {
    for (;;) {
      const iteration = board.inFlight.get(phaseSlug);
      if (iteration === undefined) return start(board.find(phaseSlug)!, subtaskId);
      try {
        await handleOf(phaseSlug, iteration).signal(grantStepSignal, { subtaskId });
        return iteration;
      } catch (error) {
        if (isCancellation(error)) throw error;
        // It has ended, which this workflow is about to hear.
        await condition(() => board.inFlight.get(phaseSlug) !== iteration);
      }
    }
  }
  setHandler(stepEndedSignal, ({ subtaskId }) => void granted.delete(subtaskId));

  setHandler(
    retrySubtaskUpdate,
    ({ actor, subtaskId }) =>
      command(async (commandId) => {
        const { change, inFlight, phaseSlug } = await records.retrySubtask({ projectId, subtaskId, actor, commandId });
        if (change) apply([change]);
        else if (inFlight) {
          await meanwhile(tellPhase(phaseSlug, (phase) => phase.signal(stepRetriedSignal, { subtaskId })));
        }
      }),
    { validator: unlessEnded('subtaskId') },
  );

  setHandler(
    retriggerUpdate,
    ({ actor, phaseSlug, cascade }) =>
      command(async (commandId) => {
        const { changes, ...result } = await records.retriggerPhase({
          projectId,
          phaseSlug,
          cascade,
          actor,
          commandId,
        });
        reopened();
        apply(changes);
        return result;
      }),
    { validator: onPhase('cascade') },
  );

  setHandler(
    revertUpdate,
    ({ actor, phaseSlug, targetVersion, cascade }) =>
      command(async (commandId) => {
        const revert = { projectId, phaseSlug, targetVersion, cascade, actor, commandId };
        const { changes, ...result } = await records.revertArtifact(revert);
        reopened();
        apply(changes);
        return result;
      }),
    { validator: onPhase('targetVersion', 'cascade') },
  );

  setHandler(
    editSessionUpdate,
    ({ actor, cascade }) =>
      command(async (commandId) => {
        const { change, ...ids } = await records.startEditSession({ projectId, cascade, actor, commandId });
        reopened();
        apply([change]);
        return ids;
      }),
    { validator: unlessEnded('cascade') },
  );

  /** Work was added: a completed project goes on. One that is paused stays so. */
  function reopened(): void {
    if (status === 'completed') status = 'active';
  }

  // ---- Gates: one way for the world and for the API; the first decision wins ------------------------------------------

  interface ResolvedGate {
    gate: GateDecision;
    phaseSlug: string;
    reactivated: boolean;
    projectStatus: ProjectStatus;
  }
  async function passOn({ gate, phaseSlug, reactivated }: ResolvedGate): Promise<void> {
    if (gate.effect === 'fail') status = 'paused';
    if (reactivated) status = 'active';
    board.answer(phaseSlug, gate.subtaskId);
    await meanwhile(tellPhase(phaseSlug, (phase) => phase.signal(gateResolvedSignal, gate)));
    if (reactivated) await meanwhile(goOn());
    stir();
  }

  setHandler(
    resolveGateUpdate,
    ({ actor, gateKind, ...answer }) =>
      command(async (commandId) => {
        const gate = { projectId, answer, actor, gateKind, commandId, isLenient: false };
        const { resolved } = await records.resolveGate(gate);
        await passOn(resolved!);
        return { projectStatus: resolved!.projectStatus };
      }),
    { validator: unlessEnded('subtask_id', 'decision', 'gateKind') },
  );

  setHandler(resolveGateSignal, async (answer) => {
    const decidedBy = typeof answer?.decided_by === 'string' ? answer.decided_by : 'signal';
    const actor = { kind: 'external' as const, id: decidedBy };
    // A name of its own, as an update has: repeated after it was recorded, it is told the same and not that it lost.
    const gate = { projectId, answer, actor, gateKind: null, commandId: uuid4(), isLenient: true };
    const { resolved } = await records.resolveGate(gate);
    turns++;
    if (resolved) await passOn(resolved);
  });

  setHandler(
    resolvePlanUpdate,
    ({ actor, taskId, decision, decidedBy }) =>
      command(async (commandId) => {
        const plan = { projectId, taskId, decision, decidedBy, actor, commandId };
        const { resolved, discarded } = await records.resolveEditPlan(plan);
        if (!discarded) return passOn(resolved!);
        const { change, reactivated } = discarded;
        if (reactivated) status = 'active';
        apply([change]);
        await meanwhile(tellPhase(change.slug, (phase) => phase.signal(discardSignal)));
        if (reactivated) await meanwhile(goOn());
      }),
    { validator: unlessEnded('taskId', 'decision', 'decidedBy') },
  );

  /** Gates of other projects that wait for the end of this one. */
  const answerWaiters = (
    waiters: readonly { projectId: string; subtaskId: string }[],
    decision: 'approved' | 'rejected',
  ): Promise<unknown> =>
    Promise.all(
      waiters.map((waiter) =>
        getExternalWorkflowHandle(projectWorkflowId(waiter.projectId))
          .signal(resolveGateSignal, {
            ...{ subtask_id: waiter.subtaskId, decision, decided_by: 'system' },
            comment: `project ${projectId} is ${decision === 'approved' ? 'completed' : 'abandoned'}`,
          })
          .catch(() => {}),
      ),
    );

  // ---- Phases -----------------------------------------------------------------------------------------------------

  setHandler(phaseStatusSignal, (told) => {
    board.note(told);
    stir();
  });
  setHandler(phaseEndedSignal, (result) => phaseEnded(result));
  setHandler(phaseLostSignal, async (lost) => {
    if (board.inFlight.get(lost.slug) === lost.iteration) await recover(lost);
  });

  setHandler(recheckSignal, async () => {
    await believe(records.pauseIdle({ projectId }));
    await syncWithRecord();
    await meanwhile(goOn());
  });

  function phaseEnded(result: PhaseResult): void {
    if (!board.end(result)) return;
    costUsd = result.costUsd ?? costUsd;
    // It paused the project, unless somebody has had it go on since: the record knows.
    if (result.status === 'failed') {
      isUncertain = true;
      turns++;
    }
    apply(result.changes);
  }

  /** @returns the number of this start */
  function start(ready: BoardPhase, grantedStep?: string): number {
    const iteration = board.begin(ready);
    follow(ready, iteration, grantedStep).catch((error: unknown) => {
      // Cancellation of this workflow: its main function ends with it too.
      if (!isCancellation(error)) throw error;
    });
    return iteration;
  }

  async function follow({ slug, taskId }: BoardPhase, iteration: number, grantedStep?: string): Promise<void> {
    const { customerId, workspaceId, limits, split, continueAfterEvents } = input;
    const args: PhaseInput = {
      ...{ projectId, customerId, workspaceId, taskId, slug, iteration, limits, split, answersKnown: true },
      ...(grantedStep !== undefined && { granted: grantedStep }),
      ...(continueAfterEvents !== undefined && { continueAfterEvents }),
    };
    try {
      const child = await startChild(phase, {
        workflowId: phaseWorkflowId(projectId, slug, iteration),
        args: [args],
        // It goes on while this workflow continues as new.
        parentClosePolicy: ParentClosePolicy.ABANDON,
        typedSearchAttributes: workflowInfo().typedSearchAttributes,
        staticSummary: slug,
        priority: { priorityKey: PRIORITY.steps },
      });
      phaseEnded(await child.result());
    } catch (error) {
      if (isCancellation(error) && !(error instanceof ChildWorkflowFailure)) throw error;
      const told = resultIn(error);
      if (told) return phaseEnded(told);
      // A start that this workflow does not remember, or a phase that somebody ended by hand.
      if (!(error instanceof WorkflowExecutionAlreadyStartedError) && !(error instanceof ChildWorkflowFailure)) {
        throw error;
      }
      await recover({ slug, taskId, iteration });
    }
  }

  /** @returns what a phase that failed says of itself */
  function resultIn(error: unknown): PhaseResult | undefined {
    const cause = error instanceof ChildWorkflowFailure ? error.cause : undefined;
    return cause instanceof ApplicationFailure && cause.type === 'phase_failed'
      ? (cause.details?.[0] as PhaseResult)
      : undefined;
  }

  async function recover({ slug, taskId, iteration }: { slug: string; taskId: string; iteration: number }) {
    // Whatever is left of it: nobody would tell it anything any more.
    await handleOf(slug, iteration)
      .cancel()
      .catch(() => {});
    const { changes, projectStatus } = await records.recoverPhase({ projectId, taskId, iteration });
    board.end({ slug, iteration, status: changes.find((change) => change.slug === slug)?.status ?? 'superseded' });
    if (status === 'active') status = projectStatus;
    apply(changes);
  }

  // ---- The story ----------------------------------------------------------------------------------------------------

  const isFull = (): boolean =>
    workflowInfo().continueAsNewSuggested ||
    updates >= MAX_UPDATES ||
    workflowInfo().historyLength > (input.continueAfterEvents ?? Number.POSITIVE_INFINITY);

  async function continueElsewhere(): Promise<void> {
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
        // It has ended, and this run of the workflow is about to hear of it.
        await condition(() => board.inFlight.get(slug) !== iteration);
      }
    }
    await continueAsNew<typeof project>({
      ...input,
      ...{ phases: board.phases, status, costUsd },
      inFlight: board.listInFlight(),
    });
  }

  /** The record does not agree that there is nothing to do: it is right. */
  async function syncWithRecord(): Promise<void> {
    board.sync(await records.loadBoard({ projectId }));
    await Promise.all(board.orphans().map(recover));
    stir();
  }

  async function complete(): Promise<void> {
    const ending = await believe(records.completeProject({ projectId }));
    if (ending.completed) await answerWaiters(ending.waiters, 'approved');
    else if (status === 'active') await syncWithRecord();
  }

  /** Takes the status from the record, unless a command that may be newer, or older, had a say in the meantime. */
  async function believe<Told extends { status: ProjectStatus }>(asking: Promise<Told>): Promise<Told> {
    const before = turns;
    const told = await asking;
    isUncertain = turns !== before;
    if (!isUncertain) status = told.status;
    return told;
  }

  async function goAsFarAsPossible(): Promise<void> {
    while (isUncertain) await believe(records.pauseIdle({ projectId }));
    if (status === 'active') for (const ready of board.ready()) start(ready);
    if (status !== 'active' || board.inFlight.size > 0) return;
    if (board.isFinished()) return complete();
    if (board.ready().length === 0) {
      await believe(records.pauseIdle({ projectId }));
      if (status === 'active') await syncWithRecord();
    }
  }

  if (status === 'planning') await believe(records.startProject({ projectId }));
  // Another run of this workflow was ended by hand while these were under way.
  await Promise.all(board.orphans().map(recover));
  // Started to carry out a command, which is on its way.
  if (status === 'completed') await condition(() => updates > 0, FOR_ITS_COMMAND);

  for (;;) {
    isStirred = false;
    await goAsFarAsPossible();
    setCurrentDetails(board.render({ title: input.title, status, costUsd }));
    if (status === 'completed' || status === 'abandoned') {
      await condition(isSettled);
      if (status === 'completed' || status === 'abandoned') return;
      continue;
    }
    if (isFull()) await continueElsewhere();
    await condition(() => isStirred || isFull());
  }
}
