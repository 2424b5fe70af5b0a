/** What is read of a provider's answer to a call. */
import { storable, storableText } from '../core/storable.ts';
import { malformed, refused, truncated } from './failures.ts';
import type { Hearing } from './hearing.ts';
import type { StreamPart, Warnings } from './sdk.ts';
import { reportedUsage } from './provider-numbers.ts';
import { createThoughts, opaqueIn } from './thoughts.ts';
import { countTokensOf } from './token-counts.ts';
import { callArguments, withoutFence } from './tool-arguments.ts';
import { renamedWithin, type WireTools } from './tool-names.ts';
import type { ModelCall, ModelReply } from './types.ts';
import { countInput } from './usage-without-reply.ts';

interface Reading {
  tools: WireTools;
  hearing: Hearing;
  warn: (warnings: Warnings) => void;
  /** Those of the answer. */
  headers: Readonly<Record<string, string>> | undefined;
}

/** @throws ModelFailure, and whatever else the stream told of instead of a reply */
export async function readReply(
  stream: AsyncIterable<StreamPart>,
  call: ModelCall,
  { tools, hearing, warn, headers }: Reading,
): Promise<ModelReply> {
  const reply: ModelReply = { text: '', toolCalls: [], usage: { inputTokens: 0, outputTokens: 0 }, finishReason: '' };
  const thoughts = createThoughts();
  for await (const part of stream) {
    hearing.part(part);
    thoughts.hear(part);
    if (part.type === 'error') throw part.error;
    else if (part.type === 'text-delta') reply.text += part.delta;
    else if (part.type === 'tool-call') {
      const asked = tools.get(part.toolName);
      const { arguments: given, ...fault } = callArguments(part.input);
      reply.toolCalls.push({
        callId: part.toolCallId,
        tool: asked?.name ?? part.toolName,
        arguments: renamedWithin(given, asked?.ownNames),
        ...fault,
        ...opaqueIn(part),
      });
    } else if (part.type === 'stream-start' && part.warnings.length > 0) warn(part.warnings);
    else if (part.type === 'finish') {
      const { unified, raw } = part.finishReason;
      // Where the provider told none, the SDK makes up either.
      const isToldNone = unified === 'interrupted' || (unified === 'other' && raw === undefined);
      if (!isToldNone) reply.finishReason = unified;
      const reported = reportedUsage(part.usage, call.resolved, headers);
      reply.usage = {
        ...reported,
        inputTokens: reported.inputTokens ?? (await countInput(call)),
        outputTokens: reported.outputTokens ?? (await countTokensOf(reply.text + JSON.stringify(reply.toolCalls))),
      };
    }
  }
  if (reply.finishReason === '') throw malformed(call.resolved, 'it ends before its end');
  reply.text = hearing.end(reply.text);
  if (call.outputSchema) reply.text = withoutFence(reply.text);
  return checked(whole(thoughts.within(reply), call), call);
}

/** A reply without words and without a call is no reply, whatever the provider says it finished with. */
export function checked(reply: ModelReply, { resolved }: ModelCall): ModelReply {
  const text = storableText(reply.text);
  const toolCalls = reply.toolCalls.map((call) => ({ ...call, arguments: storable(call.arguments) }));
  if (text.trim() || toolCalls.length > 0) return { ...reply, text, toolCalls };
  throw malformed(resolved, `it has neither text nor tool calls (finish reason ${reply.finishReason})`);
}

/** @throws ModelFailure where the provider ended the reply before its end, and would do so again */
function whole(
  reply: ModelReply,
  { resolved, outputSchema, maxOutputTokens: tokens, limitedBy: by = 'setting' }: ModelCall,
): ModelReply {
  const { text, toolCalls, finishReason } = reply;
  if (finishReason === 'content-filter') throw refused(resolved, text.trim());
  if (finishReason !== 'length') return reply;
  const limit = { tokens, by };
  if (toolCalls.some(({ fault }) => fault)) throw truncated(resolved, 'within a tool call', limit);
  if (toolCalls.length > 0) return reply;
  if (!text.trim()) throw truncated(resolved, 'before it had an answer', limit);
  if (outputSchema) throw truncated(resolved, 'within its JSON', limit);
  return reply;
}
