/**
 * What a provider gives with a reply and wants back with the next call (reasoning, signatures, encrypted items): the same model
 * gets it as it gave it, another one never, and no answer has it.
 */
import { describe, expect, test } from '@jest/globals';
import { present } from '../../../src/platform/core/present.ts';
import { fieldsOf } from '../../../src/platform/core/record.ts';
import { PROVIDER_NAMES, type ProviderName } from '../../../src/platform/models/types.ts';
import { modelMessages } from '../../../src/resources/agent-context/transcript.ts';
import { createThoughts } from '../../../src/platform/models/thoughts.ts';
import { answer, namedEvent, sse } from '../../support/fakes/openai-server.ts';
import { WIRES } from '../../support/model-wires/capabilities/all.ts';
import { replied } from '../../support/model-wires/capabilities/wire.ts';
import { anyProvider, recordOf, server, useProvider, user, wired } from './calls.ts';

useProvider();

const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
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
  // https://github.com/earendil-works/pi/issues/6733, https://github.com/mozilla-ai/any-llm/pull/1320
  'Vertex at its compatible address': {
    model: 'local-1',
    turn: [
      chunk({
        role: 'assistant',
        tool_calls: [
          {
            id: 'f1',
            type: 'function',
            function: ADD,
            extra_content: { vertex: { thought_signature: 'sig-of-call' } },
          },
        ],
      }),
      chunk({ content: '', extra_content: { google: { thought_signature: 'sig-of-message' } } }),
      chunk({}, 'tool_calls'),
      'data: [DONE]\n\n',
    ],
    end: chatEnd,
    back: [
      '"extra_content":{"vertex":{"thought_signature":"sig-of-call"}}',
      '"extra_content":{"google":{"thought_signature":"sig-of-message"}}',
    ],
  },
  // https://openrouter.ai/docs/use-cases/reasoning-tokens, https://github.com/agno-agi/agno/pull/5802: the signature comes last
  'Anthropic over OpenRouter': {
    model: 'local-1',
    turn: [
      ...[{ text: 'Let' }, { text: ' me router-thought.' }, { signature: 'sig-router' }].map((piece) =>
        chunk({
          role: 'assistant',
          content: '',
          reasoning: 'text' in piece ? piece.text : null,
          reasoning_details: [{ type: 'reasoning.text', ...piece, format: 'anthropic-claude-v1', index: 0 }],
        }),
      ),
      chunk({
        reasoning_details: [{ type: 'reasoning.encrypted', data: 'locked-1', format: 'anthropic-claude-v1', index: 1 }],
      }),
      chunk({ tool_calls: [{ index: 0, id: 'toolu_1', type: 'function', function: ADD }] }),
      chunk({}, 'tool_calls'),
      'data: [DONE]\n\n',
    ],
    end: chatEnd,
    back: [
      '"reasoning_details":[{"type":"reasoning.text","text":"Let me router-thought.","format":"anthropic-claude-v1","index":0,"signature":"sig-router"},{"type":"reasoning.encrypted","data":"locked-1","format":"anthropic-claude-v1","index":1}]',
    ],
  },
  // https://github.com/mastra-ai/mastra/issues/23433, https://github.com/OpenRouterTeam/ai-sdk-provider/issues/239
  'Gemini over OpenRouter': {
    model: 'local-1',
    turn: [
      chunk({
        role: 'assistant',
        content: '',
        reasoning: 'gem-thought',
        reasoning_details: [{ type: 'reasoning.text', text: 'gem-thought', format: 'google-gemini-v1', index: 0 }],
      }),
      chunk({ tool_calls: [{ index: 0, id: 'tool_0_add', type: 'function', function: ADD }] }),
      chunk({
        content: '',
        reasoning_details: [
          { type: 'reasoning.encrypted', data: 'locked-gem', format: 'google-gemini-v1', index: 0, id: 'tool_0_add' },
        ],
      }),
      chunk({}, 'tool_calls'),
      'data: [DONE]\n\n',
    ],
    end: chatEnd,
    // The detail has the id of its call, as the product names that.
    back: [
      '"reasoning_details":[{"type":"reasoning.text","text":"gem-thought","format":"google-gemini-v1","index":0},{"type":"reasoning.encrypted","data":"locked-gem","format":"google-gemini-v1","index":0,"id":"call_1_0"}]',
      '"tool_calls":[{"id":"call_1_0"',
    ],
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
    ].map(namedEvent),
    end: [
      ANTHROPIC_START,
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Four.' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 5 } },
      { type: 'message_stop' },
    ].map(namedEvent),
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
    ].map(namedEvent),
    end: [
      { type: 'response.created', response: { id: 'r', created_at: 1, model: 'm' } },
      { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'i' } },
      { type: 'response.output_text.delta', item_id: 'i', output_index: 0, content_index: 0, delta: 'Four.' },
      { type: 'response.output_item.done', output_index: 0, item: { type: 'message', id: 'i' } },
      {
        type: 'response.completed',
        response: { id: 'r', created_at: 1, usage: { input_tokens: 9, output_tokens: 5 } },
      },
    ].map(namedEvent),
    back: ['"encrypted_content":"locked-gpt"'],
  },
};

const endOf = (name: string) => present(PROVIDERS[name]).end;
const addTool = {
  name: 'add',
  description: 'adds',
  parameters: { type: 'object', properties: { a: { type: 'number' } } },
};

describe.each(Object.entries(PROVIDERS))('%s', (_, { model, turn, end, back }) => {
  const ask = async (name: string, messages: Parameters<typeof modelMessages>[0] | undefined) => {
    const { models, credentials } = anyProvider();
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
    const run = await recordOf(reply, resolved);
    server.script(sse(...end));
    expect((await ask(model, run)).reply).toMatchObject({ text: 'Four.' });
    const sent = JSON.stringify(server.requests.at(-1)?.body);
    for (const part of back) expect(sent).toContain(part);
    // Nothing is said twice: details have the text of a thought.
    if (sent.includes('reasoning_details')) expect(sent).not.toContain('reasoning_content');
  });

  // Guards: nobody else is told it, neither another model of the same provider nor another provider.
  test('is the only one that does', async () => {
    server.script(sse(...turn));
    const { reply, resolved } = await ask(model, undefined);
    const run = await recordOf(reply, resolved);
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

/** Another model of each provider. */
const OTHERS: Readonly<Record<ProviderName, string>> = {
  anthropic: 'claude-sonnet-5',
  openai: 'gpt-5.5',
  google: 'gemini-3.5-flash',
  'google-vertex': 'vertex/gemini-3.5-flash',
  'amazon-bedrock': 'us.anthropic.claude-opus-4-5-20251101-v1:0',
  'azure-openai': 'azure/our-other',
  mistral: 'mistral-small-latest',
  'openai-compatible': 'local-2',
};
/** All texts of a value. */
const textsOf = (value: unknown): string[] =>
  typeof value === 'string' ? [value] : Object.values(Array.isArray(value) ? value : fieldsOf(value)).flatMap(textsOf);

// Guards: what the model of one provider thought, and what goes back to it, no other model is told: of none of them.
test.each(PROVIDER_NAMES)('nobody else is told what %s gave', async (name) => {
  const wire = WIRES[name];
  server.script(replied(wire.cases.reasoning.turn, wire.contentType));
  const { given, ask } = wired(wire);
  const reply = await ask();
  const record = await recordOf(reply, given.resolved);
  const gave = textsOf([reply.reasoning, reply.toolCalls.map(({ opaque }) => opaque)]).filter((text) => text !== '');
  expect(gave).toContain('I add.');
  for (const other of PROVIDER_NAMES.flatMap((each) => {
    const { model } = WIRES[each];
    return [...(each === name ? [] : [{ each, model }]), { each, model: OTHERS[each] }];
  })) {
    const { env, contentType, cases } = WIRES[other.each];
    server.script(replied(cases.stream.turn.flat(), contentType));
    const asked = wired({ env, model: other.model });
    await asked.ask({ messages: modelMessages(record, [], asked.given.resolved) });
    const { text } = present(server.requests.at(-1));
    expect({ other, told: gave.filter((each) => text.includes(JSON.stringify(each).slice(1, -1))) }).toEqual({
      other,
      told: [],
    });
  }
});

// Guards: a thought that has the id of an earlier one is another one, since some providers begin anew after a text.
test('keeps apart thoughts of the same id', () => {
  const thoughts = createThoughts();
  for (const delta of ['first', 'second']) {
    thoughts.hear({ type: 'reasoning-start', id: '0' });
    thoughts.hear({ type: 'reasoning-delta', id: '0', delta });
    thoughts.hear({ type: 'reasoning-end', id: '0', providerMetadata: { local: { signature: `sig-${delta}` } } });
  }
  const reply = { text: '', toolCalls: [], usage: { inputTokens: 0, outputTokens: 0 }, finishReason: 'stop' };
  expect(thoughts.within(reply).reasoning).toEqual([
    { text: 'first', opaque: { local: { signature: 'sig-first' } } },
    { text: 'second', opaque: { local: { signature: 'sig-second' } } },
  ]);
});
