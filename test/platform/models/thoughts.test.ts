/**
 * What a provider gives with a reply and wants back with the next call (reasoning, signatures, encrypted items): the same model
 * gets it as it gave it, another one never, and no answer has it.
 */
import { describe, expect, test } from '@jest/globals';
import { present } from '../../../src/platform/core/present.ts';
import type { ModelReply, ResolvedModel } from '../../../src/platform/models/types.ts';
import { modelMessages } from '../../../src/resources/agent-context/transcript.ts';
import { requestedCalls, spoken } from '../../../activities/turn-record.ts';
import { createModels } from '../../../src/platform/models/models.ts';
import { answer, sse } from '../../support/fakes/openai-server.ts';
import { configFor, KEY, log, server, useProvider, user } from './calls.ts';

useProvider();

const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const event = (data: { type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const ADD = { name: 'add', arguments: '{"a":2}' };

interface Thinking {
  model: string;
  /** A turn that thinks and calls a tool. */
  turn: string[];
  /** The answer to the turn after it. */
  end: string[];
  /** Stands in the next request of the same model. */
  back: string[];
}

const ANTHROPIC_START = {
  type: 'message_start',
  message: {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
    usage: { input_tokens: 9, output_tokens: 1 },
  },
};
const chatEnd = [chunk({ content: 'Four.' }), chunk({}, 'stop'), 'data: [DONE]\n\n'];
const PROVIDERS: Record<string, Thinking> = {
  // https://api-docs.deepseek.com/guides/thinking_mode: it refuses the next call without it
  DeepSeek: {
    model: 'local-1',
    turn: [
      chunk({ role: 'assistant', content: null, reasoning_content: 'I should ' }),
      chunk({ reasoning_content: 'add-thought.' }),
      chunk({ tool_calls: [{ index: 0, id: 'call_00', type: 'function', function: ADD }] }),
      chunk({}, 'tool_calls'),
      'data: [DONE]\n\n',
    ],
    end: chatEnd,
    back: ['"reasoning_content":"I should add-thought."'],
  },
  // https://ai.google.dev/gemini-api/docs/thought-signatures
  'Gemini at its compatible address': {
    model: 'local-1',
    turn: [
      chunk({
        role: 'assistant',
        tool_calls: [
          {
            index: 0,
            id: 'f1',
            type: 'function',
            function: ADD,
            extra_content: { google: { thought_signature: 'sig-gem' } },
          },
        ],
      }),
      chunk({}, 'tool_calls'),
      'data: [DONE]\n\n',
    ],
    end: chatEnd,
    back: ['"thought_signature":"sig-gem"'],
  },
  // https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking
  Anthropic: {
    model: 'claude-sonnet-5',
    turn: [
      ANTHROPIC_START,
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'claude-thought' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'sig-claude' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'redacted_thinking', data: 'hidden-claude' } },
      { type: 'content_block_stop', index: 1 },
      {
        type: 'content_block_start',
        index: 2,
        content_block: { type: 'tool_use', id: 'toolu_1', name: 'add', input: {} },
      },
      { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"a":2}' } },
      { type: 'content_block_stop', index: 2 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 5 } },
      { type: 'message_stop' },
    ].map(event),
    end: [
      ANTHROPIC_START,
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Four.' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 5 } },
      { type: 'message_stop' },
    ].map(event),
    back: ['"thinking":"claude-thought"', '"signature":"sig-claude"', '"data":"hidden-claude"'],
  },
  // https://platform.openai.com/docs/guides/reasoning#encrypted-reasoning-items
  OpenAI: {
    model: 'gpt-6-sol',
    turn: [
      { type: 'response.created', response: { id: 'r', created_at: 1, model: 'm' } },
      { type: 'response.output_item.added', output_index: 0, item: { type: 'reasoning', id: 'rs_1', summary: [] } },
      {
        type: 'response.reasoning_summary_part.added',
        item_id: 'rs_1',
        output_index: 0,
        summary_index: 0,
        part: { type: 'summary_text', text: '' },
      },
      {
        type: 'response.reasoning_summary_text.delta',
        item_id: 'rs_1',
        output_index: 0,
        summary_index: 0,
        delta: 'gpt-thought',
      },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: {
          type: 'reasoning',
          id: 'rs_1',
          encrypted_content: 'locked-gpt',
          summary: [{ type: 'summary_text', text: 'gpt-thought' }],
        },
      },
      {
        type: 'response.output_item.added',
        output_index: 1,
        item: { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'add', arguments: '' },
      },
      { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 1, delta: '{"a":2}' },
      {
        type: 'response.output_item.done',
        output_index: 1,
        item: {
          type: 'function_call',
          id: 'fc_1',
          call_id: 'call_1',
          name: 'add',
          arguments: '{"a":2}',
          status: 'completed',
        },
      },
      {
        type: 'response.completed',
        response: { id: 'r', created_at: 1, usage: { input_tokens: 9, output_tokens: 5 } },
      },
    ].map(event),
    end: [
      { type: 'response.created', response: { id: 'r', created_at: 1, model: 'm' } },
      { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'i' } },
      { type: 'response.output_text.delta', item_id: 'i', output_index: 0, content_index: 0, delta: 'Four.' },
      { type: 'response.output_item.done', output_index: 0, item: { type: 'message', id: 'i' } },
      {
        type: 'response.completed',
        response: { id: 'r', created_at: 1, usage: { input_tokens: 9, output_tokens: 5 } },
      },
    ].map(event),
    back: ['"encrypted_content":"locked-gpt"'],
  },
};

const endOf = (name: string) => present(PROVIDERS[name]).end;
const addTool = {
  name: 'add',
  description: 'adds',
  parameters: { type: 'object', properties: { a: { type: 'number' } } },
};

/** The record of a run whose first turn this was, once its call has a result. */
async function recorded(reply: ModelReply, resolved: ResolvedModel) {
  const calls = await requestedCalls(1, reply, []);
  const content = spoken(reply, calls, resolved);
  const messages = [
    { turn: 0, role: 'user' as const, content: 'What is 2 + 2?' },
    { turn: 1, role: 'assistant' as const, content: JSON.parse(JSON.stringify(content)) },
  ];
  return { messages, toolCalls: calls.map((call) => ({ ...call, status: 'succeeded' as const, result: 4 })) };
}

describe.each(Object.entries(PROVIDERS))('%s', (_, { model, turn, end, back }) => {
  const ask = async (name: string, messages: Parameters<typeof modelMessages>[0] | undefined) => {
    const models = createModels(
      configFor({
        ANTHROPIC_BASE_URL: server.baseUrl,
        OPENAI_BASE_URL: server.baseUrl,
        OPENAI_COMPATIBLE_BASE_URL: server.baseUrl,
        OPENAI_COMPATIBLE_MODEL: 'local-1',
      }),
      { log },
    );
    const credentials = models.credentials({ anthropic: KEY, openai: KEY });
    const resolved = models.resolve({ model: name, prompt: '' }, credentials);
    const told = messages ? modelMessages(messages, [], resolved) : [user('What is 2 + 2?')];
    const reply = await models.call({
      resolved,
      credentials,
      messages: told,
      system: 'Add.',
      tools: [addTool],
      maxOutputTokens: 2_000,
      timeoutMs: 20_000,
      signal: new AbortController().signal,
    });
    return { reply, resolved };
  };

  // Guards against: a provider that refuses the next call because what it gave was not sent back with it.
  test('gets back what it gave', async () => {
    server.script(sse(...turn));
    const { reply, resolved } = await ask(model, undefined);
    expect(reply).toMatchObject({ text: '', toolCalls: [{ tool: 'add', arguments: { a: 2 } }] });
    const run = await recorded(reply, resolved);
    server.script(sse(...end));
    expect((await ask(model, run)).reply).toMatchObject({ text: 'Four.' });
    const sent = JSON.stringify(server.requests.at(-1)?.body);
    for (const part of back) expect(sent).toContain(part);
  });

  // Guards: nobody else is told it, neither another model of the same provider nor another provider.
  test('is the only one that does', async () => {
    server.script(sse(...turn));
    const { reply, resolved } = await ask(model, undefined);
    const run = await recorded(reply, resolved);
    for (const other of ['claude-opus-5', 'gpt-5.5', 'llama-9']) {
      server.otherwise(
        other === 'llama-9' ? answer('Four.') : sse(...endOf(other === 'gpt-5.5' ? 'OpenAI' : 'Anthropic')),
      );
      await ask(other, run);
      const sent = JSON.stringify(server.requests.at(-1)?.body);
      for (const word of ['thought', 'sig-', 'locked', 'hidden'])
        expect({ other, sent: sent.includes(word) }).toEqual({ other, sent: false });
    }
  });
});
