/**
 * https://docs.mistral.ai/api/#tag/chat, https://docs.mistral.ai/capabilities/reasoning,
 * https://docs.mistral.ai/studio-api/conversations/advanced/prompt-caching
 */
import { expect } from '@jest/globals';
import { addSchema, answered, KEY, stream, type Fixture } from '../fixture.ts';
import { CACHE_KEY, events, PIXELS, SCHEMA, type Chunks, type Wire } from './wire.ts';

const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) => ({
  id: 'cmpl-e5cc70bb28c444948073e77776eb30ef',
  object: 'chat.completion.chunk',
  created: 1_760_000_000,
  model: 'mistral-medium-3-5',
  choices: [{ index: 0, delta, finish_reason }],
  ...more,
});
const USAGE = {
  prompt_tokens: 20,
  total_tokens: 28,
  completion_tokens: 8,
  num_cached_tokens: 4,
  prompt_tokens_details: { cached_tokens: 4 },
};
const end = (reason: string, usage: object = USAGE) => chunk({ content: '' }, reason, { usage });
const answer = (text: string, usage?: object): Chunks =>
  events(chunk({ role: 'assistant', content: '' }), chunk({ content: text }), end('stop', usage), '[DONE]');
const call = (index: number, id: string, args: string) => ({ id, index, function: { name: 'add', arguments: args } });
const calling = (...calls: object[]) => chunk({ content: '', tool_calls: calls }, 'tool_calls', { usage: USAGE });
/** Calls come whole. */
const turn = (...parts: object[]): Chunks => events(chunk({ role: 'assistant', content: '' }), ...parts, '[DONE]');
const thought = (text: string) => chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }] });
/** https://github.com/anomalyco/opencode/issues/1680: "must be a-z, A-Z, 0-9, with a length of 9" */
const NINE = expect.stringMatching(/^[a-zA-Z\d]{9}$/);
const made = (a: number) => ({
  type: 'function',
  id: NINE,
  function: { name: 'add', arguments: JSON.stringify({ a }) },
});
const result = (content: string) => ({ role: 'tool', name: 'add', tool_call_id: NINE, content });
const system = { role: 'system', content: 'Add.' };
const asked = { role: 'user', content: [{ type: 'text', text: 'What is 2 + 2?' }] };
const failures: Fixture['failures'] = [
  ['a key that it does not know', answered(401, { detail: 'Unauthorized' }), 'model_auth_failed'],
  [
    'too many',
    answered(429, {
      object: 'error',
      message: 'Requests rate limit exceeded',
      type: 'rate_limited',
      param: null,
      code: '1300',
    }),
    'model_rate_limited',
  ],
  [
    'a field that it does not know',
    answered(422, {
      object: 'error',
      message: {
        detail: [{ type: 'extra_forbidden', loc: ['body', 'foo'], msg: 'Extra inputs are not permitted' }],
      },
      type: 'invalid_request_error',
    }),
    'model_refused_request',
    { message: expect.stringContaining('Extra inputs are not permitted') },
  ],
  [
    'too long a prompt',
    answered(400, {
      object: 'error',
      message: 'Prompt contains 40000 tokens, too large for model with 32768 maximum context length',
      type: 'invalid_request_error',
      param: null,
      code: '3051',
    }),
    'model_context_overflow',
  ],
  ['no end', stream(chunk({ content: 'Once' })), 'model_malformed_reply'],
];

export const MISTRAL: Wire = {
  label: 'Mistral',
  model: 'mistral-medium-latest',
  env: { MISTRAL_API_KEY: KEY },
  path: '/v1/chat/completions',
  headers: { authorization: `Bearer ${KEY}` },
  cases: {
    stream: {
      cell: 'yes',
      turn: [
        events(chunk({ role: 'assistant', content: '' }), chunk({ content: 'One ' })),
        events(chunk({ content: 'two.' }), end('stop'), '[DONE]'),
      ],
      sent: { stream: true, max_tokens: 2_000, model: 'mistral-medium-latest' },
    },
    tools: {
      cell: 'yes',
      turn: turn(calling(call(0, 'D681PevKs', '{"a":2}'))),
      sent: {
        tools: [{ type: 'function', function: { name: 'add', description: 'adds', parameters: addSchema } }],
        tool_choice: 'auto',
      },
      back: { messages: [system, asked, { role: 'assistant', tool_calls: [made(2)] }, result('4')] },
    },
    'parallel tools': {
      cell: 'yes',
      turn: turn(calling(call(0, 'D681PevKs', '{"a":2}'), call(1, 'b1cAo0Xq2', '{"a":3}'))),
      sent: { tool_choice: 'auto' },
      back: {
        messages: [system, asked, { role: 'assistant', tool_calls: [made(2), made(3)] }, result('4'), result('5')],
      },
    },
    schema: {
      cell: 'yes; with tools in words',
      isInWords: 'with tools',
      turn: answer('{"sum":4}'),
      sent: { response_format: { type: 'json_schema', json_schema: { schema: SCHEMA, strict: false } } },
    },
    reasoning: {
      cell: 'yes, its text',
      turn: turn(thought('I '), thought('add.'), calling(call(0, 'D681PevKs', '{"a":2}'))),
      sent: { reasoning_effort: 'high' },
      back: {
        messages: [
          system,
          asked,
          {
            role: 'assistant',
            content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'I add.' }] }],
            tool_calls: [made(2)],
          },
          result('4'),
        ],
      },
    },
    'prompt cache': {
      cell: 'by a key',
      turn: answer('Four.', { ...USAGE, prompt_tokens: 150, num_cached_tokens: 100 }),
      sent: { prompt_cache_key: CACHE_KEY },
      usage: { inputTokens: 150, cacheReadTokens: 100 },
    },
    pictures: {
      cell: 'after the results',
      sent: {
        messages: [
          system,
          asked,
          { role: 'assistant' },
          result('{"filename":"a.png"}'),
          // It refuses "role 'user' after role 'tool'".
          { role: 'assistant', content: 'I look at the pictures.' },
          {
            role: 'user',
            content: [{ type: 'text' }, { type: 'image_url', image_url: `data:image/png;base64,${PIXELS}` }],
          },
        ],
      },
    },
    usage: {
      cell: 'cache read',
      turn: answer('Four.'),
      usage: { inputTokens: 20, outputTokens: 8, cacheReadTokens: 4 },
    },
    errors: { cell: 'yes', failures },
  },
};
