/**
 * https://platform.openai.com/docs/api-reference/chat-streaming as vLLM, DeepSeek and OpenRouter speak it:
 * https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html, https://api-docs.deepseek.com/guides/thinking_mode,
 * https://openrouter.ai/docs/api-reference/streaming
 */
import { addSchema, answered, KEY, stream, type Fixture } from '../fixture.ts';
import { CACHE_KEY, events, PIXELS, SCHEMA, textOf, type Chunks, type Wire } from './wire.ts';

const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) => ({
  id: 'chatcmpl-8e1f2c',
  object: 'chat.completion.chunk',
  created: 1_760_000_000,
  model: 'local-1',
  choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  ...more,
});
const USAGE = {
  prompt_tokens: 20,
  completion_tokens: 8,
  total_tokens: 28,
  prompt_tokens_details: { cached_tokens: 4, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 5 },
};
/** OpenRouter keeps the connection open with such lines. */
const WAITING = ': OPENROUTER PROCESSING\n\n';
const begin = chunk({ role: 'assistant', content: '' });
const end = (reason: string, usage: object = USAGE): Chunks =>
  events(chunk({}, reason), { ...chunk({}), choices: [], usage }, '[DONE]');
const answer = (text: string, usage?: object): Chunks => [
  WAITING,
  ...events(begin, chunk({ content: text })),
  ...end('stop', usage),
];
const call = (index: number, id: string) => ({
  index,
  id,
  type: 'function',
  function: { name: 'add', arguments: '' },
});
const argued = (index: number, text: string) => chunk({ tool_calls: [{ index, function: { arguments: text } }] });
const made = (id: string, a: number) => ({
  id,
  type: 'function',
  function: { name: 'add', arguments: JSON.stringify({ a }) },
});
const result = (tool_call_id: string, content: string) => ({ role: 'tool', tool_call_id, content });
const system = { role: 'system', content: 'Add.' };
const asked = { role: 'user', content: 'What is 2 + 2?' };

const failures: Fixture['failures'] = [
  ['vLLM, a key that it does not know', answered(401, { error: 'Unauthorized' }), 'model_auth_failed'],
  [
    'vLLM, a model that it does not have',
    answered(404, {
      object: 'error',
      message: 'The model `local-1` does not exist.',
      type: 'NotFoundError',
      param: null,
      code: 404,
    }),
    'model_refused_request',
    { message: textOf('does not exist') },
  ],
  [
    'vLLM, too long a prompt',
    answered(400, {
      object: 'error',
      message: "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
      type: 'BadRequestError',
      param: null,
      code: 400,
    }),
    'model_context_overflow',
  ],
  [
    'OpenRouter, too many',
    answered(
      429,
      { error: { message: 'Rate limit exceeded: free-models-per-min.', code: 429 } },
      { 'retry-after': '3' },
    ),
    'model_rate_limited',
    { retryAfterMs: 3_000, message: textOf('free-models-per-min') },
  ],
  [
    'OpenRouter, no credit',
    answered(402, { error: { message: 'Insufficient credits.', code: 402 } }),
    'model_refused_request',
    { message: textOf('Insufficient credits.') },
  ],
  [
    'OpenRouter, within the stream',
    stream(chunk({ content: 'Once' }), {
      ...chunk({ content: '' }, 'error'),
      error: { code: 502, message: 'Provider disconnected unexpectedly' },
    }),
    'model_unavailable',
    { message: textOf('Provider disconnected') },
  ],
  ['a reply that it filters', stream(chunk({ content: 'Once' }), chunk({}, 'content_filter')), 'model_refused'],
  ['no end', stream(chunk({ content: 'Once' })), 'model_malformed_reply'],
];

export const OPENAI_COMPATIBLE: Wire = {
  label: 'OpenAI-compatible',
  model: 'local-1',
  env: { OPENAI_COMPATIBLE_API_KEY: KEY, OPENAI_COMPATIBLE_MODEL: 'local-1', OPENAI_COMPATIBLE_SEES: 'true' },
  path: '/v1/chat/completions',
  headers: { authorization: `Bearer ${KEY}` },
  cases: {
    stream: {
      cell: 'yes',
      turn: [
        [WAITING, ...events(begin, chunk({ content: 'One ' }))],
        [...events(chunk({ content: 'two.' })), ...end('stop')],
      ],
      sent: { stream: true, stream_options: { include_usage: true }, max_tokens: 2_000, model: 'local-1' },
    },
    tools: {
      cell: 'yes',
      turn: [
        ...events(begin, chunk({ tool_calls: [call(0, 'chatcmpl-tool-1')] }), argued(0, '{"a":'), argued(0, '2}')),
        ...end('tool_calls'),
      ],
      sent: {
        tools: [{ type: 'function', function: { name: 'add', description: 'adds', parameters: addSchema } }],
        tool_choice: 'auto',
      },
      back: {
        messages: [
          system,
          asked,
          { role: 'assistant', content: null, tool_calls: [made('call_1_0', 2)] },
          result('call_1_0', '4'),
        ],
      },
    },
    'parallel tools': {
      cell: 'yes',
      turn: [
        ...events(
          begin,
          chunk({ tool_calls: [call(0, 'chatcmpl-tool-1')] }),
          argued(0, '{"a":2}'),
          chunk({ tool_calls: [call(1, 'chatcmpl-tool-2')] }),
          argued(1, '{"a":'),
          argued(1, '3}'),
        ),
        ...end('tool_calls'),
      ],
      sent: { tool_choice: 'auto' },
      back: {
        messages: [
          system,
          asked,
          { role: 'assistant', tool_calls: [made('call_1_0', 2), made('call_1_1', 3)] },
          result('call_1_0', '4'),
          result('call_1_1', '5'),
        ],
      },
    },
    schema: {
      cell: 'as the server takes it',
      turn: answer('{"sum":4}'),
      sent: { response_format: { type: 'json_schema', json_schema: { schema: SCHEMA, strict: false } } },
    },
    reasoning: {
      cell: 'yes, as it came',
      turn: [
        ...events(
          chunk({ role: 'assistant', content: null, reasoning_content: 'I ' }),
          chunk({ reasoning_content: 'add.' }),
          chunk({ tool_calls: [call(0, 'call_00')] }),
          argued(0, '{"a":2}'),
        ),
        ...end('tool_calls'),
      ],
      sent: { reasoning_effort: 'high' },
      back: {
        messages: [
          system,
          asked,
          { role: 'assistant', reasoning_content: 'I add.', tool_calls: [made('call_1_0', 2)] },
          result('call_1_0', '4'),
        ],
      },
    },
    'prompt cache': {
      cell: 'by itself; Claude at OpenRouter marked',
      turn: answer('Four.', {
        ...USAGE,
        prompt_tokens: 150,
        prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 30 },
      }),
      sent: {},
      usage: { inputTokens: 150, cacheReadTokens: 100, cacheWriteTokens: 30 },
      never: new RegExp(`${CACHE_KEY}|cache_control`),
    },
    pictures: {
      cell: 'after the results',
      sent: {
        messages: [
          system,
          asked,
          { role: 'assistant' },
          result('call_1_0', '{"filename":"a.png"}'),
          {
            role: 'user',
            content: [{ type: 'text' }, { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXELS}` } }],
          },
        ],
      },
    },
    usage: {
      cell: 'cache, reasoning and cost, if told',
      turn: answer('Four.', { ...USAGE, cost: 0.0125 }),
      usage: { inputTokens: 20, outputTokens: 8, cacheReadTokens: 4, reasoningTokens: 5, billedUsd: 0.0125 },
    },
    errors: { cell: 'yes', failures },
  },
};
