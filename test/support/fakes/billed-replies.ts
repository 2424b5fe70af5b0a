/**
 * Providers that bill each request by what their cache has of it, and say so in their replies: the messages API of Anthropic,
 * and chat completions as OpenAI and compatible servers have them.
 */
import { blocksOf, createAnthropicBills, type BilledTokens } from './anthropic-bills.ts';
import { createChatBills, toldInChat } from './chat-bills.ts';
import { answer, callToolsFor, namedEvent, sse, type Reply, type Usage } from './openai-server.ts';

export interface BilledReplies {
  /** Of each request, one after another. */
  billed: BilledTokens[];
  /** @returns all that a model is told, in the order in which it is, piece by piece. Marks are no part of what is told. */
  toldIn(body: Record<string, unknown>): string[];
  call(id: string, tool: string, args: unknown): Reply;
  end(text: string): Reply;
}

export function createBilledAnthropic(model: string): BilledReplies {
  const bill = createAnthropicBills();
  const billed: BilledTokens[] = [];
  const replying =
    (block: { type: string; id?: string; name?: string }, said: string): Reply =>
    (response, request) => {
      const usage = bill(request.body, said);
      billed.push(usage);
      const isCall = block.type === 'tool_use';
      const message = { id: 'm', type: 'message', role: 'assistant', model, content: [], stop_reason: null };
      const delta = isCall ? { type: 'input_json_delta', partial_json: said } : { type: 'text_delta', text: said };
      sse(
        ...[
          { type: 'message_start', message: { ...message, usage: { ...usage, output_tokens: 1 } } },
          {
            type: 'content_block_start',
            index: 0,
            content_block: { ...block, ...(isCall ? { input: {} } : { text: '' }) },
          },
          { type: 'content_block_delta', index: 0, delta },
          { type: 'content_block_stop', index: 0 },
          {
            type: 'message_delta',
            delta: { stop_reason: isCall ? 'tool_use' : 'end_turn', stop_sequence: null },
            usage: { output_tokens: usage.output_tokens },
          },
          { type: 'message_stop' },
        ].map(namedEvent),
      )(response, request);
    };
  return {
    billed,
    toldIn: (body) => blocksOf(body).map(({ block }) => JSON.stringify(block)),
    call: (id, name, args) => replying({ type: 'tool_use', id, name }, JSON.stringify(args)),
    end: (text) => replying({ type: 'text' }, text),
  };
}

export function createBilledChat(): BilledReplies {
  const bill = createChatBills();
  const billed: BilledTokens[] = [];
  const replying =
    (said: string, reply: (usage: Usage) => Reply): Reply =>
    (response, request) => {
      const tokens = bill(request.body, said);
      billed.push(tokens);
      const { input_tokens: unread, cache_read_input_tokens: cachedTokens, output_tokens: outputTokens } = tokens;
      reply({ inputTokens: unread + cachedTokens, outputTokens, cachedTokens })(response, request);
    };
  return {
    billed,
    toldIn: toldInChat,
    call: (id, name, args) =>
      replying(JSON.stringify(args), (usage) => callToolsFor(usage, { id, name, arguments: args })),
    end: (text) => replying(text, (usage) => answer(text, usage)),
  };
}
