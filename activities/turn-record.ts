/** What a turn came to, as rows and events: pure, so that a repeated turn records the same. */
import { wireName } from '../src/platform/models/tool-names.ts';
import type { ModelFailure, ModelReply, ResolvedModel } from '../src/platform/models/types.ts';
import type { TurnOutcome } from '../src/resources/runs/model.ts';
import type { NewEvent } from '../src/resources/runs/store/events.ts';
import type { RecordedToolCall } from '../src/resources/runs/store/turns.ts';
import { checkArguments } from '../src/resources/tools/arguments.ts';
import { effectOf, type Tool } from '../src/resources/tools/model.ts';

const PREVIEW_LENGTH = 500;
const preview = (text: string): string => text.slice(0, PREVIEW_LENGTH).toWellFormed();

export const toolsOutcome = (calls: readonly RecordedToolCall[]): TurnOutcome => ({
  kind: 'tools',
  calls: calls
    .filter(({ status }) => status === 'pending')
    .map(({ callId, tool, effect, dispatch }) => ({ callId, tool, effect, dispatch })),
});

/** Calls that cannot be made have their result at once: the model is told why and can do better. */
export const requestedCalls = (turn: number, reply: ModelReply, offered: readonly Tool[]): RecordedToolCall[] => {
  const available = offered.filter(({ unavailable }) => unavailable === undefined).map(({ slug }) => slug);
  return reply.toolCalls.map(({ tool: slug, arguments: args }, position) => {
    // One that was offered in an earlier turn, and is not now, is called by the name that it had on the wire.
    const tool = offered.find((candidate) => candidate.slug === slug || wireName(candidate.slug) === slug);
    const fault = tool
      ? (tool.unavailable ?? checkArguments(tool, args))
      : `there is no tool "${slug}"; yours are: ${available.join(', ') || 'none'}`;
    return {
      // Our own id: providers have been seen to use one twice.
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
  });
};

export const iteration = (
  turn: number,
  reply: ModelReply,
  costUsd: string | null,
  durationMs: number,
  { model }: ResolvedModel,
): NewEvent => ({
  key: `turn:${turn}`,
  type: 'claude_iteration',
  durationMs,
  costUsd,
  status: 'succeeded',
  payload: {
    turn,
    model,
    finish_reason: reply.finishReason,
    input_tokens: reply.usage.inputTokens,
    output_tokens: reply.usage.outputTokens,
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

export const failedRequest = (
  turn: number,
  attempt: number,
  { code, message, retryAfterMs }: ModelFailure,
): NewEvent => ({
  key: `turn:${turn}:attempt:${attempt}`,
  type: 'claude_request',
  status: 'failed',
  payload: {
    turn,
    attempt,
    code,
    error: preview(message),
    ...(retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }),
  },
});
