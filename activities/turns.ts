/**
 * One turn of a run: it loads the run, holds the cost, calls the model and records the reply. No transaction is open
 * during the call, and the turn that ends the run records the end and all that follows from it in one statement.
 */
import { Context } from '@temporalio/activity';
import type { Config } from '../src/platform/core/config.ts';
import type { Log } from '../src/platform/core/log.ts';
import { isStorageAway } from '../src/platform/files/storage-away.ts';
import { present } from '../src/platform/core/present.ts';
import {
  isWithoutProvider,
  ModelFailure,
  type ModelReply,
  type Models,
  type RecordedReply,
  type ResolvedModel,
  type TokenUsage,
} from '../src/platform/models/types.ts';
import type { LoadPictures } from '../src/resources/agent-context/pictures.ts';
import { modelMessages } from '../src/resources/agent-context/transcript.ts';
import {
  HISTORY_LENGTH,
  isTerminal,
  systemText,
  type RunError,
  type CallUnderWay,
  type EarlierAttempts,
  type RunLimits,
  type SystemContent,
  type TurnOutcome,
} from '../src/resources/runs/model.ts';
import type { RunInTurn } from '../src/resources/runs/store/run-in-turn.ts';
import type { AfterRun, RunEnd } from '../src/resources/runs/store/turns.ts';
import type { Scribe } from '../src/resources/run-texts/scribe.ts';
import { isCallable, type Tool } from '../src/resources/tools/model.ts';
import type { ToolRegistry } from '../src/resources/tools/registry.ts';
import { slotWait } from '../src/platform/temporal/activity-slots.ts';
import { untilRecorded } from './database-away.ts';
import { STORAGE_WAIT_MS } from './storage-away.ts';
import { asApplicationFailure, fail, heartbeating } from './failures.ts';
import { createSpending, type Spending, type SpendingDependencies } from './spending.ts';
import { createTurnBeginning, type TurnBeginningDependencies } from './turn-beginning.ts';
import {
  abortedRequest,
  callEvents,
  failedRequest,
  iteration,
  requestedCalls,
  spoken,
  toolsOutcome,
} from './turn-record.ts';

export interface TurnDependencies extends TurnBeginningDependencies {
  tools: ToolRegistry;
  loadPictures: LoadPictures;
  log: Log;
  settings: Pick<Config, 'MODEL_TIMEOUT' | 'MODEL_MAX_OUTPUT_TOKENS' | 'MODEL_MAX_RETRY_AFTER'>;
  /** Keeps the project of a step's run informed of what the run spends, and that it is alive. */
  noteTurn: (turn: { attemptId: string; turn: number; isLast: boolean }) => Promise<void>;
  /** Starts what an end set off: webhook deliveries, the next run of the conversation. Repeating it does nothing. */
  startFollowing: (after: AfterRun) => Promise<void>;
  /** @returns what the workspace is charged for models of the deployment; undefined where billing is not live */
  tariffOf: SpendingDependencies['tariffOf'];
  /** Lets a run ask again that gave its slot back. Rejects if its workflow is gone. */
  wakeRun: (runId: string) => Promise<unknown>;
  /** Lets whoever watches the run read along. */
  scribe: Scribe;
}

export const createTurnActivities = (deps: TurnDependencies) => {
  const { runs, agents, tools, models, settings, startFollowing, noteTurn, wakeRun, scribe } = deps;
  const { spendingOf } = createSpending(deps);
  const { begin, resume, credentialsOf } = createTurnBeginning(deps);

  /** Ends the run from inside a turn, before any call is made. */
  async function end(runId: string, status: 'failed' | 'cancelled', error?: RunError): Promise<TurnOutcome> {
    const ended = await runs.endRun(runId, { status, error });
    if (ended) await startFollowing(ended.after);
    return { kind: 'ended', status: ended?.status ?? status, ...(error && { error }) };
  }

  async function recorded(run: RunInTurn, turn: number): Promise<TurnOutcome> {
    if (isTerminal(run.status)) {
      await startFollowing(await runs.loadAfterRun(run));
      return {
        kind: 'ended',
        status: run.status,
        ...(run.error ? { error: { code: run.errorCode ?? 'internal_error', message: run.error } } : {}),
      };
    }
    const found = new Map(
      (
        await tools.find(
          run.customerId,
          run.toolCalls.map(({ tool }) => tool),
        )
      ).map((tool) => [tool.slug, tool]),
    );
    return toolsOutcome(
      run.toolCalls
        .filter((call) => call.turn === turn)
        .map((call) => ({ ...call, dispatch: found.get(call.tool)?.dispatch ?? 'activity' })),
    );
  }

  async function takeTurn({
    runId,
    turn,
    limits,
    earlier,
  }: {
    runId: string;
    turn: number;
    limits: RunLimits;
    earlier?: EarlierAttempts;
  }): Promise<TurnOutcome> {
    const { info } = Context.current();
    const before = (earlier?.made ?? 0) + info.attempt - 1;
    const left = (info.heartbeatDetails as CallUnderWay | null | undefined) ?? earlier?.underWay;
    const slot = slotWait(info.attempt, { id: runId, wake: () => wakeRun(runId) });
    if (slot) {
      const made = { made: before, ...(left && { underWay: left }) };
      return { kind: 'waiting', behind: null, lookMs: slot.slotWaitMs, earlier: made };
    }
    const attempt = before + 1;
    const run = await agents.loadRunInTurn(runId);
    if (!run) throw fail('run_not_found', `run ${runId} does not exist`);
    if (isTerminal(run.status) || run.turnCount >= turn) return recorded(run, turn);
    // The run was accepted just as its parent was cancelled. Housekeeping started it, and it ends here.
    if (run.status === 'queued' && run.isOrphaned) return end(runId, 'cancelled');
    if (run.blockedBy) return { kind: 'waiting', behind: run.blockedBy };

    try {
      if (turn > limits.maxTurns) {
        return await end(runId, 'failed', {
          code: 'turn_limit_exceeded',
          message: `no answer after ${limits.maxTurns} turns; raise RUN_MAX_TURNS or narrow the task`,
        });
      }
      const used = run.inputTokens + run.outputTokens;
      if (used >= limits.maxTokens) {
        return await end(runId, 'failed', {
          code: 'token_limit_exceeded',
          message: `${used} tokens used of ${limits.maxTokens}; raise RUN_MAX_TOKENS or narrow the task`,
        });
      }
      const { resolved, offered } = await (run.status === 'queued' ? begin(run) : resume(run));
      const made = await call(run, { turn, attempt, left }, resolved, offered);
      return await record(run, turn, resolved, offered, made);
    } catch (error) {
      // A picture that the run has read could not be loaded, and the model has not been asked.
      if (isStorageAway(error)) {
        const made = { made: before, ...(left && { underWay: left }) };
        return { kind: 'waiting', behind: null, lookMs: STORAGE_WAIT_MS, earlier: made, waitsFor: 'file storage' };
      }
      if (!(error instanceof ModelFailure)) throw error;
      // An attempt that will be repeated shows in the timeline; the last failure becomes the end of the run, which has a
      // text alone.
      if (error.retryable || error.facts) await runs.noteEvents(runId, [failedRequest(turn, attempt, error)]);
      throw asApplicationFailure(error);
    }
  }

  async function call(
    run: RunInTurn,
    { turn, attempt, left: before }: CallUnderWay & { left: CallUnderWay | undefined },
    resolved: ResolvedModel,
    offered: readonly Tool[],
  ): Promise<Call> {
    const earlier = run.conversation === null ? [] : await runs.loadEarlierExchanges(run.id, HISTORY_LENGTH);
    const credentials = await credentialsOf(run);
    const pictures = await deps.loadPictures(run, resolved, credentials);
    const sampleReply = resolved.provider === 'sample' ? await recordedReply(run, turn) : undefined;
    const request = {
      resolved,
      credentials,
      system: systemText(present(run.messages.find(({ role }) => role === 'system')).content as SystemContent),
      messages: modelMessages(run, earlier, resolved, pictures.notes),
      pictures: pictures.shown,
      tools: offered
        .filter(isCallable)
        .map(({ slug, description, parameters }) => ({ name: slug, description, parameters })),
      ...(run.step?.outputSchema ? { outputSchema: run.step.outputSchema } : {}),
      maxOutputTokens: settings.MODEL_MAX_OUTPUT_TOKENS,
      ...(sampleReply && { recorded: sampleReply, maxOutputTokens: await countReply(models, sampleReply) }),
      timeoutMs: settings.MODEL_TIMEOUT,
      maxRetryAfterMs: settings.MODEL_MAX_RETRY_AFTER,
    };
    const spending = await spendingOf({ run, turn, resolved, credentials: request.credentials, request });
    const book = (usage: TokenUsage, why: Parameters<typeof abortedRequest>[4], of = attempt): Promise<void> => {
      const costUsd = spending.costOf(usage);
      const event = abortedRequest({ turn, attempt: of }, usage, costUsd, resolved, why);
      const wallet = spending.wallet(costUsd, of);
      return untilRecorded(() =>
        runs.recordAbortedCall({
          run: { ...run, budgetIds: spending.budgetIds },
          turn,
          attempt: of,
          usage,
          costUsd,
          wallet,
          event,
        }),
      );
    };
    const lost = underWayBefore(before, turn, attempt);
    // The part of the reply that had come died with its worker. What the model had been asked is booked, no more.
    if (lost) await book({ inputTokens: await spending.inputTokens(), outputTokens: 0 }, 'worker_lost', lost.attempt);

    const isHeld = await spending.hold();
    const startedAt = performance.now();
    let spent: TokenUsage | undefined;
    // Neither the offline model nor a recording costs anything that a lost worker would leave unbooked.
    const isOffline = isWithoutProvider(resolved.provider);
    // Such a call is over before anybody could come to read along later.
    const telling = isOffline && !run.isWatched ? undefined : scribe.begin(run, turn, attempt);
    try {
      const left: CallUnderWay | undefined = isOffline ? undefined : { turn, attempt };
      const heard = { onAborted: (usage: TokenUsage) => (spent = usage), ...(telling && { onText: telling.add }) };
      const reply = await heartbeating((signal) => models.call({ ...request, signal, ...heard }), left);
      return { reply, attempt, durationMs: Math.round(performance.now() - startedAt), spending, book };
    } catch (error) {
      const failure = error instanceof ModelFailure ? error : undefined;
      if (spent) await book(spent, failure ?? 'cancelled');
      // The call was cancelled: nothing will be booked for it, so nothing stays held for it either.
      else if (!failure && isHeld) await runs.release(run.id);
      throw error;
    } finally {
      await telling?.end();
    }
  }

  /** @throws ModelFailure when the recording has no reply for the turn, because the product was upgraded meanwhile */
  async function recordedReply(run: RunInTurn, turn: number): Promise<RecordedReply> {
    const reply = await deps.findRecordedReply(run, turn);
    if (!reply) throw new ModelFailure('model_unavailable', 'The recorded sample has no reply for this turn.');
    return reply;
  }

  async function record(
    run: RunInTurn,
    turn: number,
    resolved: ResolvedModel,
    offered: readonly Tool[],
    { reply, attempt, durationMs, spending, book }: Call,
  ): Promise<TurnOutcome> {
    const costUsd = spending.costOf(reply.usage);
    const calls = await requestedCalls(turn, reply, offered);
    const runEnd: RunEnd | undefined = calls.length === 0 ? { status: 'succeeded', output: reply.text } : undefined;
    // The reply must not be lost with the database, since whoever asked again would pay for it again.
    const after = await untilRecorded(() =>
      runs.recordTurn({
        run: { ...run, budgetIds: spending.budgetIds },
        turn,
        model: resolved.model,
        usage: reply.usage,
        costUsd,
        wallet: spending.wallet(costUsd),
        reply: spoken(reply, calls, resolved),
        toolCalls: calls,
        events: [iteration(turn, attempt, reply, costUsd, durationMs, resolved), ...calls.flatMap(callEvents)],
        end: runEnd,
      }),
    );
    if (!after) {
      const current = present(await agents.loadRunInTurn(run.id));
      // Another attempt was quicker, unless it was this one, whose answer was lost. Both calls are paid for.
      if (current.messages.some((message) => message.turn === turn)) await book(reply.usage, 'superseded');
      return recorded(current, turn);
    }
    if (run.attemptId !== null && (run.isLimited || !runEnd)) {
      await noteTurn({ attemptId: run.attemptId, turn, isLast: runEnd !== undefined });
    }
    if (!runEnd) return toolsOutcome(calls);
    await startFollowing(after);
    return { kind: 'ended', status: 'succeeded' };
  }

  return { takeTurn };
};

/** @returns the tokens of a recorded reply, which may be longer than a reply of a model is allowed to be */
const countReply = (models: Models, { text, toolCalls }: RecordedReply): Promise<number> =>
  models.countTokens(text + JSON.stringify(toolCalls));

/** A call that came to a reply. */
interface Call {
  reply: ModelReply;
  attempt: number;
  durationMs: number;
  spending: Spending;
  /** Books a reply that nobody uses. */
  book(usage: TokenUsage, why: 'superseded'): Promise<void>;
}

/** @returns an earlier attempt's call of which nothing more was heard; one that ended is known by its event */
const underWayBefore = (left: CallUnderWay | undefined, turn: number, attempt: number): CallUnderWay | undefined =>
  left?.turn === turn && left.attempt < attempt ? left : undefined;
