/** https://docs.anthropic.com/en/docs/build-with-claude/streaming, .../prompt-caching, .../extended-thinking, .../api/errors */
import { addSchema, answered, KEY, stream, type Fixture } from '../fixture.ts';
import { named, PIXELS, SCHEMA, textOf, type Chunks, type Wire } from './wire.ts';

const start = (usage: object = {}) => ({
  type: 'message_start',
  message: {
    id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-5',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: 20,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
      output_tokens: 1,
      service_tier: 'standard',
      ...usage,
    },
  },
});
const block = (index: number, content_block: object, ...deltas: object[]) => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
];
const words = (index: number, ...pieces: string[]) =>
  block(index, { type: 'text', text: '' }, ...pieces.map((text) => ({ type: 'text_delta', text })));
const calling = (index: number, id: string, ...pieces: string[]) =>
  block(
    index,
    { type: 'tool_use', id, name: 'add', input: {}, caller: { type: 'direct' } },
    ...['', ...pieces].map((partial_json) => ({ type: 'input_json_delta', partial_json })),
  );
const end = (stop_reason: string, usage: object = {}) => [
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 8, ...usage } },
  { type: 'message_stop' },
];
const thinking = [
  ...block(
    0,
    { type: 'thinking', thinking: '', signature: '' },
    { type: 'thinking_delta', thinking: 'I ' },
    { type: 'thinking_delta', thinking: 'add.' },
    { type: 'signature_delta', signature: 'EqQBCgIYAhIM1gbcDa9GJwZA2b3h' },
  ),
  ...block(1, { type: 'redacted_thinking', data: 'EmwKAhgBEgy3va3pzix' }),
];
const turn = (...blocks: { type: string }[]): Chunks => named(start(), { type: 'ping' }, ...blocks, ...end('tool_use'));
const MARK = { cache_control: { type: 'ephemeral' } };
const use = (id: string, a: number) => ({ type: 'tool_use', id, name: 'add', input: { a } });
const result = (tool_use_id: string, content: string) => ({ type: 'tool_result', tool_use_id, content });

const error = (status: number, type: string, message: string, headers?: Record<string, string>) =>
  answered(status, { type: 'error', error: { type, message }, request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy' }, headers);
const failures: Fixture['failures'] = [
  ['a key that it does not know', error(401, 'authentication_error', 'invalid x-api-key'), 'model_auth_failed'],
  [
    'a model that does not exist',
    error(404, 'not_found_error', 'model: claude-opus-5'),
    'model_refused_request',
    { message: textOf('model: claude-opus-5') },
  ],
  [
    'too many',
    error(429, 'rate_limit_error', "This request would exceed your organization's rate limit.", { 'retry-after': '7' }),
    'model_rate_limited',
    { retryAfterMs: 7_000, message: textOf("your organization's rate limit") },
  ],
  ['overloaded', error(529, 'overloaded_error', 'Overloaded'), 'model_unavailable', { message: textOf('Overloaded') }],
  [
    'too long a prompt',
    error(400, 'invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'),
    'model_context_overflow',
    { message: textOf('210000 tokens') },
  ],
  [
    'overloaded, within the stream',
    stream(start(), ...words(0, 'Once'), {
      type: 'error',
      error: { type: 'overloaded_error', message: 'Overloaded' },
      request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy',
    }),
    'model_unavailable',
    { message: textOf('Overloaded') },
  ],
  ['a refusal', stream(start(), ...words(0, 'Once'), ...end('refusal')), 'model_refused'],
  ['no end', stream(start(), ...words(0, 'Once')), 'model_malformed_reply'],
];

export const ANTHROPIC: Wire = {
  label: 'Anthropic',
  model: 'claude-opus-5',
  env: { ANTHROPIC_API_KEY: KEY },
  path: '/v1/messages',
  headers: { 'x-api-key': KEY, 'anthropic-version': '2023-06-01' },
  cases: {
    stream: {
      cell: 'yes',
      turn: [
        named(start(), ...words(0, 'One ').slice(0, 2), { type: 'ping' }),
        named(...words(0, 'two.').slice(1), ...end('end_turn')),
      ],
      sent: { stream: true, max_tokens: 2_000, model: 'claude-opus-5' },
    },
    tools: {
      cell: 'yes',
      turn: turn(...calling(0, 'toolu_1', '{"a":', '2}')),
      sent: { tools: [{ name: 'add', description: 'adds', input_schema: addSchema }], tool_choice: { type: 'auto' } },
      back: {
        messages: [
          { role: 'user', content: [{ type: 'text', text: 'What is 2 + 2?' }] },
          { role: 'assistant', content: [use('call_1_0', 2)] },
          { role: 'user', content: [result('call_1_0', '4')] },
        ],
      },
    },
    'parallel tools': {
      cell: 'yes',
      turn: turn(...words(0, 'Both.'), ...calling(1, 'toolu_1', '{"a":2}'), ...calling(2, 'toolu_2', '{"a"', ':3}')),
      sent: { tool_choice: { type: 'auto' } },
      back: {
        messages: [
          { role: 'user' },
          { role: 'assistant', content: [{ type: 'text' }, use('call_1_0', 2), use('call_1_1', 3)] },
          { role: 'user', content: [result('call_1_0', '4'), result('call_1_1', '5')] },
        ],
      },
    },
    schema: {
      cell: 'yes',
      turn: named(start(), ...words(0, '{"su', 'm":4}'), ...end('end_turn')),
      sent: { output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
    },
    reasoning: {
      cell: 'yes, with signatures',
      turn: turn(...thinking, ...calling(2, 'toolu_1', '{"a":2}')),
      sent: { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
      back: {
        messages: [
          { role: 'user' },
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'I add.', signature: 'EqQBCgIYAhIM1gbcDa9GJwZA2b3h' },
              { type: 'redacted_thinking', data: 'EmwKAhgBEgy3va3pzix' },
              use('call_1_0', 2),
            ],
          },
          { role: 'user' },
        ],
      },
    },
    'prompt cache': {
      cell: 'marked',
      turn: named(
        start({ cache_read_input_tokens: 100, cache_creation_input_tokens: 30 }),
        ...words(0, 'Four.'),
        ...end('end_turn'),
      ),
      sent: {
        system: [{ type: 'text', text: 'Add.', ...MARK }],
        tools: [{ name: 'add', ...MARK }],
        messages: [
          { role: 'user', content: [{ type: 'text', ...MARK }] },
          { role: 'assistant' },
          { role: 'user', content: [{ type: 'tool_result', ...MARK }] },
        ],
      },
      usage: { inputTokens: 150, cacheReadTokens: 100, cacheWriteTokens: 30 },
    },
    pictures: {
      cell: 'in the result',
      sent: {
        messages: [
          { role: 'user' },
          { role: 'assistant' },
          {
            role: 'user',
            content: [
              {
                type: 'tool_result',
                content: [
                  { type: 'text', text: '{"filename":"a.png"}' },
                  { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXELS } },
                ],
              },
            ],
          },
        ],
      },
    },
    usage: {
      cell: 'cache read and written',
      turn: named(
        start({ cache_read_input_tokens: 4, cache_creation_input_tokens: 2, input_tokens: 14 }),
        ...words(0, 'Four.'),
        ...end('end_turn'),
      ),
      usage: { inputTokens: 20, outputTokens: 8, cacheReadTokens: 4, cacheWriteTokens: 2 },
    },
    errors: { cell: 'yes', failures },
  },
};
