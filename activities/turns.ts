/**
 * One turn of a run: it loads the run, holds the cost, calls the model and records the reply. No transaction is open
 * during the call, and the turn that ends the run records the end and all that follows from it in one statement.
 */
import { Context } from '@temporalio/activity';
import type { Config } from '../src/platform/core/config.ts';
import { sha256 } from '../src/platform/core/crypto.ts';
import type { Log } from '../src/platform/core/log.ts';
import { isStorageAway } from '../src/platform/files/storage-away.ts';
import { present } from '../src/platform/core/present.ts';
import {
  isWithoutProvider,
  ModelFailure,
  type ModelReply,
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
import { isCallable } from '../src/resources/tools/model.ts';
import type { ToolRegistry } from '../src/resources/tools/registry.ts';
import { truncated } from '../src/platform/models/failures.ts';
import { LEAST_OUTPUT, type OutputLimit } from '../src/platform/models/output-limit.ts';
import { faultOf } from '../src/platform/models/recorded-parts.ts';
import { untilRecorded } from './database-away.ts';
import { STORAGE_WAIT_MS } from './storage-away.ts';
import { asApplicationFailure, fail, heartbeating } from './failures.ts';
import { createFailover, isOutage, type FailoverRequest } from './failover.ts';
import type { QuickCalls } from './quick-calls.ts';
import { createSlotAsking } from './turn-slot.ts';
import { createSpending, type Spending, type SpendingDependencies } from './spending.ts';
import { createTurnBeginning, type Answering, type TurnBeginningDependencies } from './turn-beginning.ts';
import {
  abortedRequest,
  callEvents,
  countReply,
  failedRequest,
  isCutOff,
  iteration,
  outputFault,
  piecesBefore,
  requestedCalls,
  spoken,
  toolsOutcome,
  underWayBefore,
} from './turn-record.ts';

export interface TurnDependencies extends TurnBeginningDependencies {
  tools: ToolRegistry;
  loadPictures: LoadPictures;
  log: Log;
  settings: Pick<Config, 'MODEL_TIMEOUT' | 'MODEL_MAX_CONTINUATIONS' | 'MODEL_MAX_RETRY_AFTER' | 'MODEL_FALLBACKS'>;
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
  makeQuickCalls: QuickCalls;
}

/** An answer that is not of the schema its run asks for is sent back so many times. */
const MAX_REPAIRS = 2;

export const createTurnActivities = (deps: TurnDependencies) => {
  const { runs, agents, tools, models, settings, startFollowing, noteTurn, scribe } = deps;
  const { spendingOf } = createSpending(deps);
  const { begin, resume } = createTurnBeginning(deps);
  const askForSlot = createSlotAsking(deps);
  const { nextOf, goOn, goAround } = createFailover(deps);

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
    const kept = {
      made: before,
      ...(earlier?.elsewhere && { elsewhere: earlier.elsewhere }),
      ...(left && { underWay: left }),
    };
    const noSlot = await askForSlot({ runId, turn, waitedSince: earlier?.waitsSince }, kept);
    if (noSlot) return noSlot;
    const attempt = before + 1;
    const run = await agents.loadRunInTurn(runId);
    if (!run) throw fail('run_not_found', `run ${runId} does not exist`);
    if (isTerminal(run.status) || run.turnCount >= turn) return recorded(run, turn);
    // The run was accepted just as its parent was cancelled. Housekeeping started it, and it ends here.
    if (run.status === 'queued' && run.isOrphaned) return end(runId, 'cancelled');
    if (run.blockedBy) return { kind: 'waiting', behind: run.blockedBy };

    let asked: FailoverRequest | undefined;
    let hasBegun = false;
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
      const answering = await (run.status === 'queued' ? begin(run) : resume(run));
      asked = { ...answering, run, turn };
      const elsewhere = await goAround(asked, attempt - 1);
      if (elsewhere) return elsewhere;
      const made = await call(asked, { turn, attempt, left }, () => (hasBegun = true));
      return await record(run, turn, answering, made);
    } catch (error) {
      // A picture that the run has read could not be loaded, and the model has not been asked.
      if (isStorageAway(error))
        return { kind: 'waiting', behind: null, lookMs: STORAGE_WAIT_MS, earlier: kept, waitsFor: 'file storage' };
      if (!(error instanceof ModelFailure)) throw error;
      // An attempt that will be repeated shows in the timeline; the last failure becomes the end of the run, which has a
      // text alone.
      const isLast = !error.retryable || info.attempt >= (info.retryPolicy?.maximumAttempts ?? Infinity);
      const next = asked && isLast && isOutage(error, hasBegun) ? nextOf(asked) : undefined;
      if (error.retryable || error.facts || next) await runs.noteEvents(runId, [failedRequest(turn, attempt, error)]);
      if (asked && next) return goOn(asked, next, attempt, error);
      throw asApplicationFailure(error);
    }
  }

  async function call(
    { run, agent, resolved, offered, effort, credentials }: FailoverRequest,
    { turn, attempt, left: before }: CallUnderWay & { left: CallUnderWay | undefined },
    onBegun: () => void,
  ): Promise<Call> {
    const earlier = run.conversation === null ? [] : await runs.loadEarlierExchanges(run.id, HISTORY_LENGTH);
    const pictures = await deps.loadPictures(run, resolved, credentials);
    const sampleReply = resolved.provider === 'sample' ? await recordedReply(run, turn) : undefined;
    const outputSchema = run.outputSchema ?? run.step?.outputSchema;
    const request = {
      resolved,
      credentials,
      system: systemText(present(run.messages.find(({ role }) => role === 'system')).content as SystemContent),
      messages: modelMessages(run, earlier, resolved, pictures.notes),
      pictures: pictures.shown,
      tools: offered
        .filter(isCallable)
        .map(({ slug, description, parameters }) => ({ name: slug, description, parameters })),
      ...(outputSchema && { outputSchema }),
      ...(effort && { effort }),
      cacheKey: sha256(`${run.customerId}/${agent.slug}`).slice(0, 32),
      ...(sampleReply && { recorded: sampleReply }),
      timeoutMs: settings.MODEL_TIMEOUT,
      maxRetryAfterMs: settings.MODEL_MAX_RETRY_AFTER,
    };
    const spending = await spendingOf({ run, turn, resolved, credentials: request.credentials, request });
    const book = (usage: TokenUsage, why: Parameters<typeof abortedRequest>[4], of = attempt): Promise<void> => {
      const money = spending.of(usage, of);
      const event = abortedRequest({ turn, attempt: of }, usage, money, resolved, why);
      return untilRecorded(() =>
        runs.recordAbortedCall({
          run: { ...run, budgetIds: spending.budgetIds },
          turn,
          attempt: of,
          usage,
          ...money,
          event,
        }),
      );
    };
    const lost = underWayBefore(before, turn, attempt);
    // The part of the reply that had come died with its worker. What the model had been asked is booked, no more.
    if (lost) await book({ inputTokens: await spending.inputTokens(), outputTokens: 0 }, 'worker_lost', lost.attempt);

    // Neither the offline model nor a recording costs anything that a lost worker would leave unbooked.
    const isOffline = isWithoutProvider(resolved.provider);
    const wanted: OutputLimit = sampleReply
      ? { tokens: await countReply(models, sampleReply), by: 'model' }
      : models.outputLimit(resolved, {
          ofAgent: agent.maxOutputTokens,
          inputTokens: isOffline ? 0 : await spending.inputTokens(),
        });
    const { limit, isHeld } = await spending.hold(wanted, sampleReply ? wanted.tokens : LEAST_OUTPUT);
    const limited = { maxOutputTokens: limit.tokens, limitedBy: limit.by };
    const startedAt = performance.now();
    let spent: TokenUsage | undefined;
    // Such a call is over before anybody could come to read along later.
    const telling = isOffline && !run.isWatched ? undefined : scribe.begin(run, turn, attempt);
    try {
      const left: CallUnderWay | undefined = isOffline ? undefined : { turn, attempt };
      const onText = (piece: string) => {
        onBegun();
        telling?.add(piece);
      };
      const heard = { onAborted: (usage: TokenUsage) => (spent = usage), ...((telling || !isOffline) && { onText }) };
      const reply = await heartbeating((signal) => models.call({ ...request, ...limited, signal, ...heard }), left);
      return { reply, attempt, durationMs: Math.round(performance.now() - startedAt), limit, spending, book };
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
    { resolved, offered }: Answering,
    { reply, attempt, durationMs, limit, spending, book }: Call,
  ): Promise<TurnOutcome> {
    const money = spending.of(reply.usage);
    const requested = await requestedCalls(turn, reply, offered);
    const { calls, results } = await deps.makeQuickCalls(run, requested, offered);
    const fault = calls.length === 0 ? await outputFault(run, reply) : undefined;
    const runEnd = calls.length === 0 ? endOf(run, turn, { reply, limit }, resolved, fault) : undefined;
    // The reply must not be lost with the database, since whoever asked again would pay for it again.
    const after = await untilRecorded(() =>
      runs.recordTurn({
        run: { ...run, budgetIds: spending.budgetIds },
        turn,
        model: resolved.model,
        usage: reply.usage,
        ...money,
        reply: spoken(reply, calls, resolved, fault),
        toolCalls: calls,
        events: [
          iteration(turn, attempt, reply, { ...money, durationMs, resolved, fault }),
          ...requested.flatMap(callEvents),
          ...results,
        ],
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
    return { kind: 'ended', status: runEnd.status, ...(runEnd.error && { error: runEnd.error }) };
  }

  /** @returns undefined for a reply that is not yet the answer: the next turn asks for the rest, or for a better one */
  function endOf(
    run: RunInTurn,
    turn: number,
    { reply, limit }: Pick<Call, 'reply' | 'limit'>,
    resolved: ResolvedModel,
    fault: string | undefined,
  ): RunEnd | undefined {
    if (fault !== undefined) {
      const asked = 1 + run.messages.filter(({ content }) => faultOf(content) !== undefined).length;
      if (asked <= MAX_REPAIRS) return undefined;
      const message = `none of ${asked} answers is of the schema that was asked for: ${fault}`;
      return { status: 'failed', error: { code: 'output_invalid', message } };
    }
    const before = piecesBefore(run.messages, turn);
    if (!isCutOff(reply)) return { status: 'succeeded', output: [...before, reply.text].join('') };
    if (before.length < settings.MODEL_MAX_CONTINUATIONS) return undefined;
    const { code, message } = truncated(resolved, `in each of ${before.length + 1} turns`, limit);
    return { status: 'failed', error: { code, message } };
  }

  return { takeTurn };
};

/** A call that came to a reply. */
interface Call {
  reply: ModelReply;
  attempt: number;
  durationMs: number;
  /** What it was asked to write at most. */
  limit: OutputLimit;
  spending: Spending;
  /** Books a reply that nobody uses. */
  book(usage: TokenUsage, why: 'superseded'): Promise<void>;
}
