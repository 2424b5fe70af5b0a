/**
 * One start of a phase: it walks the step graph. `step-work.ts` does the work of steps; gates wait for a signal. Each
 * beginning and end of a step is decided in the record, under its project's lock; this workflow only knows what is
 * under way. So a pause holds from the moment its row says so, and a start that was overtaken writes nothing.
 */
import {
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  isCancellation,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { present } from '../../src/platform/core/present.ts';
import {
  ENACT_ACTION,
  type AttemptFault,
  type GateDecision,
  type PauseReason,
  type PhaseChange,
  type PhaseEnding,
  type StepRef,
  type TaskStatus,
} from '../../src/resources/projects/model.ts';
import { recordsInTurn } from '../shared/activities.ts';
import { createBrake } from '../shared/brake.ts';
import { createPhaseDetails } from './details.ts';
import {
  detachSignal,
  discardSignal,
  gateResolvedSignal,
  resumedSignal,
  grantStepSignal,
  stepRetriedSignal,
  type PhaseInput,
  type PhaseResult,
} from './messages.ts';
import { answerForTime, passMoments } from './gate-moments.ts';
import { createStepGraph } from './step-graph.ts';
import { runAction, runAgent, type ActionRef, type Beginning, type Begun } from './step-work.ts';
import { createTelling, failureOf } from './telling.ts';

export async function phase(input: PhaseInput): Promise<PhaseResult> {
  const { projectId, taskId, slug, iteration } = input;
  const ref = { projectId, taskId, iteration };
  const records = recordsInTurn();
  const graph = createStepGraph(() => details.show());
  const details = createPhaseDetails(input, graph.render);
  const granted = new Set(input.granted ? [input.granted] : []);
  const answers = new Map<string, GateDecision>();
  /** These gates were open when the work before them was sent back. */
  const recalled = new Set<string>();
  const atGate = new Set<string>();
  /** What the record says of open gates whose answer has not arrived here. */
  const recorded = new Map<string, TaskStatus>();
  const changes: PhaseChange[] = [];
  let resumes = 0;
  /** The record may know more than this workflow was told. */
  let isBehind = false;
  let keysMade = 0;
  /** So many steps are no longer under way. */
  let endings = 0;
  let isDetached = input.detached ?? false;
  /** This start writes nothing any more: another took over, or phases before it are to be done first. */
  let over: 'superseded' | 'not_yet' | undefined;
  let broken: unknown;
  /** The end of the phase is recorded with that of its last step. */
  let closed: Extract<PhaseEnding, { kind: 'ended' }> | undefined;
  const steps = new CancellationScope();
  const brake = createBrake();

  setHandler(resumedSignal, () => {
    resumes++;
    isBehind = true;
  });
  setHandler(gateResolvedSignal, (decision) => void answers.set(decision.subtaskId, decision));
  setHandler(stepRetriedSignal, ({ subtaskId }) => graph.resetFrom(subtaskId));
  setHandler(grantStepSignal, ({ subtaskId }) => void granted.add(subtaskId));
  setHandler(discardSignal, () => void (over ??= 'superseded'));
  setHandler(detachSignal, () => void (isDetached = true));

  const { tell, tellStepEnded, tellPaused, tellEnd, whilePaused } = createTelling(input);

  /**
   * Asks again each time the project goes on, for as long as the answer is that it is paused.
   * @returns undefined when another step failed in the meantime: nothing starts beside it
   */
  async function unlessPaused<Answer extends { kind: string; reason?: PauseReason }>(
    who: { key: string; slug: string },
    ask: () => Promise<Answer>,
    isGranted: () => boolean,
  ): Promise<Exclude<Answer, { kind: 'paused' }> | undefined> {
    for (;;) {
      const before = resumes;
      const answer = await ask();
      if (answer.kind !== 'paused') return answer as Exclude<Answer, { kind: 'paused' }>;
      const told = { key: who.key, waitsFor: details.paused(who.key, who, answer.reason) };
      await whilePaused(told, () => condition(() => resumes > before || isGranted() || graph.hasFailed()));
      details.goOn(who.key);
      if (graph.hasFailed()) return undefined;
    }
  }

  /**
   * Takes over the record where it and this workflow have come apart: what the phase was told may be lost, and what was
   * sent back may not have been told yet.
   */
  async function readRecord(asking?: string): Promise<void> {
    isBehind = false;
    const seen = await records.readPhase(ref);
    if (seen.kind === 'superseded') return void (over ??= 'superseded');
    graph.adopt(seen.steps, asking);
    for (const { subtaskId, status } of seen.steps) {
      if (atGate.has(subtaskId) && status !== 'blocked') recorded.set(subtaskId, status);
    }
  }

  const nextKey = (): string => `${workflowInfo().runId}:${++keysMade}`;

  /** @param early set where the step began in the transaction that ended what it waited for */
  function start(step: StepRef, early?: Beginning): void {
    graph.inFlight.add(step.subtaskId);
    steps
      .run(() => runStep(step, early))
      .catch((error: unknown) => void (broken ??= error))
      .finally(() => {
        graph.inFlight.delete(step.subtaskId);
        details.goOn(step.subtaskId);
        endings++;
        if (graph.hasFailed() && graph.inFlight.size > 0) tellPaused();
      });
  }

  async function runStep(step: StepRef, early?: Beginning): Promise<void> {
    const { subtaskId } = step;
    let isGranted = early !== undefined && granted.delete(subtaskId);
    // The answer was meant for the time when the gate was open before, and came too late.
    if (step.status === 'pending') answers.delete(subtaskId);
    const key = early ? '' : nextKey();
    const endingsBefore = endings;
    const begun =
      early ??
      (await unlessPaused(
        { key: subtaskId, slug: step.slug },
        () => {
          isGranted = granted.delete(subtaskId);
          return records.beginAttempt({ ...ref, subtaskId, key, granted: isGranted });
        },
        () => granted.has(subtaskId),
      ));
    if (!begun) return;
    if (begun.kind !== 'not_yet' && begun.kind !== 'put_back')
      graph.set(subtaskId, begun.kind === 'gate' ? 'blocked' : 'running');
    switch (begun.kind) {
      case 'superseded':
        over ??= 'superseded';
        return;
      case 'not_yet':
        await readRecord(subtaskId);
        if (isGranted) await tellStepEnded(subtaskId);
        // It is asked again when something has ended, or after a while: what it waits for may be before its phase.
        details.early(step);
        return graph.couldStart(subtaskId)
          ? brake.hold(() => over !== undefined || isBehind || endings > endingsBefore)
          : brake.release();
      case 'put_back':
        over = 'not_yet';
        return;
      case 'misconfigured':
        graph.set(subtaskId, 'failed');
        break;
      case 'gate_passed':
        graph.set(subtaskId, 'succeeded');
        break;
      case 'gate':
        if (isGranted) await tellStepEnded(subtaskId);
        return atTheGate(step, begun);
      case 'agent':
        details.atWork(step, begun);
        await settle(step, begun.attemptId, await runAgent(input, step, begun));
        break;
      case 'action':
        details.atWork(step, begun);
        await settle(step, begun.attemptId, await act({ ...ref, subtaskId, attemptId: begun.attemptId }, begun));
        break;
      default:
        begun satisfies never;
    }
    if (isGranted) await tellStepEnded(subtaskId);
  }

  function startBegun(begun: readonly { subtaskId: string; beginning: Beginning }[]): void {
    for (const { subtaskId, beginning } of begun) start(present(graph.find(subtaskId)), beginning);
  }

  async function settle({ subtaskId }: StepRef, attemptId: string, fault: AttemptFault | undefined): Promise<void> {
    const { outcome, begun, ending } = await records.settleAttempt({
      ...ref,
      attemptId,
      ...(fault && { fault }),
      isLast: graph.isLast(subtaskId),
      next: graph.readyAfter(subtaskId).map((each) => ({ subtaskId: each.subtaskId, key: nextKey() })),
    });
    switch (outcome.kind) {
      case 'succeeded':
        graph.set(subtaskId, 'succeeded');
        if (ending?.kind === 'ended') closed = ending;
        return startBegun(begun);
      case 'failed':
        reopen(outcome);
        return graph.set(subtaskId, 'failed');
      case 'again':
        graph.set(subtaskId, 'pending');
        return reopen(outcome);
      case 'superseded':
        over ??= 'superseded';
    }
  }

  /** Makes steps pending that are pending again in the record; nobody can answer those of them that are open gates. */
  function reopen({ reset, failed = [] }: { reset: readonly string[]; failed?: readonly string[] }): void {
    graph.reset(reset);
    for (const each of reset) if (atGate.has(each)) recalled.add(each);
    for (const each of failed) if (!graph.inFlight.has(each)) graph.set(each, 'failed');
  }

  async function enact(work: ActionRef): Promise<undefined> {
    changes.push(...(await records.enactPlan(work)));
  }

  // This is not async: one promise more would end later than that of a step beside it, and a replay tells their order.
  const act = (work: ActionRef, begun: Begun<'action'>): Promise<AttemptFault | undefined> =>
    begun.action === ENACT_ACTION ? enact(work) : runAction(work, begun, input.split);

  async function atTheGate(step: StepRef, begun: Begun<'gate'>): Promise<void> {
    const { gateKind, waitMs, moments } = begun;
    const { subtaskId } = step;
    atGate.add(subtaskId);
    await tell(subtaskId, details.atGate(step, begun));
    const isOver = () => answers.has(subtaskId) || recalled.has(subtaskId) || recorded.has(subtaskId);
    const gate = { projectId, subtaskId, name: step.slug, records, isOver, tellPaused };
    const decided = moments ? await passMoments(moments, gate) : undefined;
    if (decided) answers.set(subtaskId, decided);
    const inTime =
      waitMs === null
        ? condition(isOver).then(() => true)
        : condition(isOver, waitMs, { summary: `${step.slug}: ${gateKind} gate` });
    const isTimesAnswer =
      decided !== undefined || (!(await inTime) && (await answerForTime({ ...gate, gateKind }, answers)));
    await condition(isOver);
    atGate.delete(subtaskId);
    const inRecord = recorded.get(subtaskId);
    recorded.delete(subtaskId);
    // An answer that came before the gate was called back no longer counts.
    const answer = recalled.delete(subtaskId) ? undefined : answers.get(subtaskId);
    answers.delete(subtaskId);
    // The gate gives its place on the board back before what follows may take it.
    const isKnown = answer !== undefined && !isTimesAnswer;
    if (!isKnown) await tell(subtaskId, null);
    if (!answer && inRecord) return graph.set(subtaskId, inRecord);
    switch (answer?.effect) {
      case 'pass':
        return graph.set(subtaskId, 'succeeded');
      case 'fail':
        return graph.set(subtaskId, 'failed');
      case 'skip':
        graph.set(subtaskId, 'succeeded');
        return graph.skipRest();
      case 'rework':
      case undefined:
        graph.set(subtaskId, 'pending');
        reopen({ reset: answer?.reset ?? [] });
    }
  }

  const mayContinue = (): boolean =>
    graph.inFlight.size === atGate.size &&
    (workflowInfo().continueAsNewSuggested ||
      workflowInfo().historyLength > (input.continueAfterEvents ?? Number.POSITIVE_INFINITY));

  async function runSteps(): Promise<PhaseResult> {
    const opened = await unlessPaused(
      { key: slug, slug },
      () => records.openPhase({ ...ref, granted: [...granted][0] ?? null, key: nextKey() }),
      () => granted.size > 0,
    );
    if (!opened || opened.kind === 'superseded') return ended('superseded', null);
    if (opened.kind === 'not_yet') return ended('not_yet', null);
    isBehind = false;
    graph.load(opened.steps);
    startBegun(opened.begun);
    for (;;) {
      if (mayContinue()) {
        const { granted: _used, ...again } = input;
        const [unused] = granted;
        await continueAsNew<typeof phase>({
          ...again,
          detached: isDetached,
          ...(unused !== undefined && { granted: unused }),
        });
      }
      if (isBehind) await readRecord();
      for (const step of graph.ready()) start(step);
      const isIdle = () => graph.inFlight.size === 0;
      const hasNews = () => over !== undefined || broken !== undefined || isBehind;
      await condition(() => hasNews() || isIdle() || graph.ready().length > 0);
      if (broken !== undefined) throw broken;
      if (over) {
        steps.cancel();
        await condition(isIdle);
        return ended(over, null);
      }
      if (!isIdle() || graph.ready().length > 0) continue;
      const ending = closed ?? (await records.closePhase(ref));
      if (ending.kind === 'superseded') return ended('superseded', null);
      if (ending.kind === 'ended') return ended(ending.status, ending.costUsd);
      graph.load(ending.steps);
      // The phase would ask for ever. The project takes it up again, from its record.
      if (graph.ready().length === 0) {
        throw ApplicationFailure.nonRetryable(`phase ${slug}: a step is under way that nobody works on`, 'phase_stuck');
      }
    }
  }

  const ended = (status: PhaseResult['status'], costUsd: string | null): PhaseResult => ({
    slug,
    iteration,
    status,
    changes,
    costUsd,
  });

  const result = await runSteps().catch(async (error: unknown) => {
    // Runs that are being cancelled record that themselves, for which they need a parent that is still there.
    if (isCancellation(error)) {
      await CancellationScope.nonCancellable(() => condition(() => graph.inFlight.size === 0));
    }
    details.broken(error);
    throw error;
  });
  details.ended(result.status);
  if (isDetached) await tellEnd(result);
  if (result.status === 'failed') throw failureOf(result);
  return result;
}
