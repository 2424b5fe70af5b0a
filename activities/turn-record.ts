/** Turns what a turn came to into rows and events. It asks nobody, so a repeated turn records the same. */
import { JsonDepthError, parseJson, TOO_DEEP } from '../src/platform/core/json.ts';
import { findValueProblem } from '../src/platform/core/schema-checks.ts';
import { cutOffText, modelName, type RecordedPart } from '../src/platform/models/recorded-parts.ts';
import { renameCalls } from '../src/platform/models/message-extras.ts';
import { wireName } from '../src/platform/models/wire-name.ts';
import type {
  ModelFailure,
  ModelReply,
  Models,
  RecordedReply,
  ResolvedModel,
  TokenUsage,
} from '../src/platform/models/types.ts';
import type { CallUnderWay, TurnOutcome } from '../src/resources/runs/model.ts';
import type { NewEvent } from '../src/resources/runs/store/events.ts';
import type { RecordedToolCall, RunInTurn } from '../src/resources/runs/store/run-in-turn.ts';
import type { Money } from './spending.ts';
import { turnKey } from '../src/resources/runs/store/turns.ts';
import { checkArguments } from '../src/resources/tools/arguments.ts';
import { effectOf, isCallable, type Tool } from '../src/resources/tools/model.ts';

const PREVIEW_LENGTH = 500;
export const preview = (text: string): string => text.slice(0, PREVIEW_LENGTH).toWellFormed();

export const toolsOutcome = (calls: readonly RecordedToolCall[]): TurnOutcome => ({
  kind: 'tools',
  calls: calls
    .filter(({ status }) => status === 'pending')
    .map(({ callId, tool, effect, dispatch }) => ({ callId, tool, effect, dispatch })),
});

/** Calls that cannot be made have their result at once: the model is told why and can do better. */
export const requestedCalls = (
  turn: number,
  reply: ModelReply,
  offered: readonly Tool[],
): Promise<RecordedToolCall[]> => {
  const available = offered.filter(isCallable).map(({ slug }) => slug);
  const requested = async (
    { tool: slug, arguments: args, fault: noArguments }: ModelReply['toolCalls'][number],
    position: number,
  ): Promise<RecordedToolCall> => {
    // A tool that was offered in an earlier turn, and is not now, is called by the name that it had on the wire.
    const tool = offered.find((candidate) => candidate.slug === slug || wireName(candidate.slug) === slug);
    const fault = tool
      ? (tool.unavailable ?? noArguments ?? (await checkArguments(tool, args)))
      : `there is no tool "${slug}"; yours are: ${available.join(', ') || 'none'}`;
    return {
      // The product makes the id, because providers have been seen to use one twice.
      callId: `call_${turn}_${position}`,
      turn,
      position,
      tool: tool?.slug ?? slug,
      arguments: args ?? {},
      effect: tool && !fault ? effectOf(tool, args) : 'read',
      dispatch: tool?.dispatch ?? 'activity',
      ...(fault
        ? { status: 'failed' as const, result: { error: fault } }
        : { status: 'pending' as const, result: null }),
    };
  };
  return Promise.all(reply.toolCalls.map(requested));
};

/** @returns why a reply is not of the schema that its run asks for. A step's is checked by its phase. */
export async function outputFault({ outputSchema }: Pick<RunInTurn, 'outputSchema'>, { text }: ModelReply) {
  if (!outputSchema) return undefined;
  try {
    return await findValueProblem(outputSchema, parseJson(text), 'output');
  } catch (error) {
    if (error instanceof JsonDepthError) return `output is ${TOO_DEEP}`;
    if (error instanceof SyntaxError) return 'output is not JSON';
    throw error;
  }
}

/** The limit of output tokens cut off a text that can go on. A call that is whole is made first. */
export const isCutOff = ({ finishReason, toolCalls }: ModelReply): boolean =>
  finishReason === 'length' && toolCalls.length === 0;

/** @returns the pieces that the turns right before left cut off, the first one first */
export function piecesBefore(messages: RunInTurn['messages'], turn: number): string[] {
  const pieces: string[] = [];
  for (let before = turn - 1; ; before -= 1) {
    const said = messages.find((message) => message.turn === before && message.role === 'assistant');
    const piece = cutOffText(said?.content);
    if (piece === undefined) return pieces;
    pieces.unshift(piece);
  }
}

/** A reply as it is recorded: the parts of an AI SDK message, with what its model alone is told again. */
export const spoken = (
  reply: ModelReply,
  calls: readonly RecordedToolCall[],
  resolved: ResolvedModel,
  fault?: string,
): RecordedPart[] => {
  const { text, reasoning = [], toolCalls } = reply;
  const by = modelName(resolved);
  const ids = new Map(calls.map(({ callId, position }) => [toolCalls[position]?.callId ?? '', callId]));
  return [
    ...reasoning.map(({ text, opaque }) => ({
      type: 'reasoning' as const,
      text,
      ...(opaque && { opaque: renameCalls(opaque, ids) }),
      by,
    })),
    ...(text === ''
      ? []
      : [
          {
            type: 'text' as const,
            text,
            ...(isCutOff(reply) && { isCutOff: true as const }),
            ...(fault !== undefined && { fault }),
          },
        ]),
    ...calls.map(({ callId, tool, arguments: input, position }) => {
      const opaque = toolCalls[position]?.opaque;
      const call = { type: 'tool-call' as const, toolCallId: callId, toolName: tool, input };
      return opaque ? { ...call, opaque, by } : call;
    }),
  ];
};

/** Tokens, as events tell them; parts only where the provider told them. */
const counted = ({
  inputTokens,
  outputTokens,
  cacheReadTokens,
  cacheWriteTokens,
  reasoningTokens,
  billedUsd,
}: TokenUsage) => ({
  input_tokens: inputTokens,
  output_tokens: outputTokens,
  ...(cacheReadTokens !== undefined && { cache_read_tokens: cacheReadTokens }),
  ...(cacheWriteTokens !== undefined && { cache_write_tokens: cacheWriteTokens }),
  ...(reasoningTokens !== undefined && { reasoning_tokens: reasoningTokens }),
  ...(billedUsd !== undefined && { told_by: 'gateway' }),
});

type Cost = Pick<Money, 'costUsd' | 'savedUsd'>;

const booked = ({ costUsd, savedUsd = '0' }: Cost) => ({
  priced: costUsd !== null,
  ...(Number(savedUsd) > 0 && { saved_usd: savedUsd }),
});

export const iteration = (
  turn: number,
  attempt: number,
  reply: ModelReply,
  {
    durationMs,
    resolved: { model },
    fault,
    ...money
  }: Cost & { durationMs: number; resolved: ResolvedModel; fault: string | undefined },
): NewEvent => ({
  key: turnKey(turn),
  type: 'claude_iteration',
  durationMs,
  costUsd: money.costUsd,
  status: 'succeeded',
  payload: {
    turn,
    attempt,
    model,
    finish_reason: reply.finishReason,
    ...counted(reply.usage),
    ...booked(money),
    text_preview: preview(reply.text),
    tool_calls: reply.toolCalls.length,
    ...(fault !== undefined && { output_fault: preview(fault) }),
  },
});

export const callEvents = ({ callId, tool, arguments: args, status, result }: RecordedToolCall): NewEvent[] => [
  {
    key: `tool:${callId}`,
    type: 'tool_call',
    payload: { call_id: callId, tool, arguments_preview: preview(JSON.stringify(args)) },
  },
  ...(status === 'failed'
    ? [
        {
          key: `tool:${callId}:result`,
          type: 'tool_result' as const,
          status,
          durationMs: 0,
          payload: { call_id: callId, tool, result_preview: preview(JSON.stringify(result)) },
        },
      ]
    : []),
];

const attemptKey = (turn: number, attempt: number): string => `${turnKey(turn)}:attempt:${attempt}`;

/** What went wrong, as far as it is known: `cancelled`, `worker_lost` and `superseded` are nobody's failure. */
const reasonOf = (why: ModelFailure | 'cancelled' | 'worker_lost' | 'superseded') =>
  typeof why === 'string'
    ? { code: why }
    : {
        code: why.code,
        error: preview(why.message),
        ...(why.retryAfterMs === undefined ? {} : { retry_after_ms: why.retryAfterMs }),
        ...why.facts,
      };

/** An attempt that cost nothing. */
export const failedRequest = (turn: number, attempt: number, failure: ModelFailure): NewEvent => ({
  key: attemptKey(turn, attempt),
  type: 'claude_request',
  status: 'failed',
  payload: { turn, attempt, ...reasonOf(failure) },
});

/** An attempt that is paid for although nobody hears its reply. */
export const abortedRequest = (
  { turn, attempt }: { turn: number; attempt: number },
  usage: TokenUsage,
  money: Cost,
  { model }: ResolvedModel,
  why: Parameters<typeof reasonOf>[0],
): NewEvent => ({
  key: attemptKey(turn, attempt),
  type: 'claude_request',
  costUsd: money.costUsd,
  status: 'aborted',
  payload: {
    turn,
    attempt,
    model,
    ...reasonOf(why),
    ...counted(usage),
    ...booked(money),
  },
});

/** @returns the tokens of a recorded reply, which may be longer than a reply of a model is allowed to be */
export const countReply = (models: Models, { text, toolCalls }: RecordedReply): Promise<number> =>
  models.countTokens(text + JSON.stringify(toolCalls));

/** @returns an earlier attempt's call of which nothing more was heard; one that ended is known by its event */
export const underWayBefore = (
  left: CallUnderWay | undefined,
  turn: number,
  attempt: number,
): CallUnderWay | undefined => (left?.turn === turn && left.attempt < attempt ? left : undefined);
