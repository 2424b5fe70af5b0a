/** Turns what a turn came to into rows and events. It asks nobody, so a repeated turn records the same. */
import { modelName, type RecordedPart } from '../src/platform/models/recorded-parts.ts';
import { wireName } from '../src/platform/models/tool-names.ts';
import type { ModelFailure, ModelReply, ResolvedModel, TokenUsage } from '../src/platform/models/types.ts';
import type { TurnOutcome } from '../src/resources/runs/model.ts';
import type { NewEvent } from '../src/resources/runs/store/events.ts';
import type { RecordedToolCall } from '../src/resources/runs/store/run-in-turn.ts';
import { turnKey } from '../src/resources/runs/store/turns.ts';
import { checkArguments } from '../src/resources/tools/arguments.ts';
import { effectOf, isCallable, type Tool } from '../src/resources/tools/model.ts';

const PREVIEW_LENGTH = 500;
const preview = (text: string): string => text.slice(0, PREVIEW_LENGTH).toWellFormed();

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

/** A reply as it is recorded: the parts of an AI SDK message, with what its model alone is told again. */
export const spoken = (
  { text, reasoning = [], toolCalls }: ModelReply,
  calls: readonly RecordedToolCall[],
  resolved: ResolvedModel,
): RecordedPart[] => {
  const by = modelName(resolved);
  return [
    ...reasoning.map((each) => ({ type: 'reasoning' as const, ...each, by })),
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...calls.map(({ callId, tool, arguments: input, position }) => {
      const opaque = toolCalls[position]?.opaque;
      const call = { type: 'tool-call' as const, toolCallId: callId, toolName: tool, input };
      return opaque ? { ...call, opaque, by } : call;
    }),
  ];
};

/** Tokens, as events tell them; parts only where the provider told them. */
const counted = ({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens }: TokenUsage) => ({
  input_tokens: inputTokens,
  output_tokens: outputTokens,
  ...(cacheReadTokens !== undefined && { cache_read_tokens: cacheReadTokens }),
  ...(cacheWriteTokens !== undefined && { cache_write_tokens: cacheWriteTokens }),
  ...(reasoningTokens !== undefined && { reasoning_tokens: reasoningTokens }),
});

export const iteration = (
  turn: number,
  attempt: number,
  reply: ModelReply,
  costUsd: string | null,
  durationMs: number,
  { model }: ResolvedModel,
): NewEvent => ({
  key: turnKey(turn),
  type: 'claude_iteration',
  durationMs,
  costUsd,
  status: 'succeeded',
  payload: {
    turn,
    attempt,
    model,
    finish_reason: reply.finishReason,
    ...counted(reply.usage),
    priced: costUsd !== null,
    text_preview: preview(reply.text),
    tool_calls: reply.toolCalls.length,
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
  costUsd: string | null,
  { model }: ResolvedModel,
  why: Parameters<typeof reasonOf>[0],
): NewEvent => ({
  key: attemptKey(turn, attempt),
  type: 'claude_request',
  costUsd,
  status: 'aborted',
  payload: {
    turn,
    attempt,
    model,
    ...reasonOf(why),
    ...counted(usage),
    priced: costUsd !== null,
  },
});
