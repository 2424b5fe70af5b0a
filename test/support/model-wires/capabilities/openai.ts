/**
 * https://platform.openai.com/docs/api-reference/responses-streaming, .../guides/reasoning#encrypted-reasoning-items,
 * .../guides/prompt-caching, .../guides/error-codes
 */
import { addSchema, answered, KEY, type Fixture } from '../fixture.ts';
import { CACHE_KEY, named, PIXELS, replied, SCHEMA, textOf, type Chunks, type Wire } from './wire.ts';

interface Event {
  type: string;
  [field: string]: unknown;
}

/** Each event has its number; pieces are padded, so that their length tells nothing. */
const numbered = (...events: Event[]): Chunks =>
  named(
    ...events.map((event, sequence_number) => ({
      ...event,
      sequence_number,
      ...(event.type.endsWith('.delta') && { obfuscation: 'Xw2vK9' }),
    })),
  );
const response = (status: string, more: object = {}) => ({
  id: 'resp_67c9fdcecf488190bdd9a0409de3a1ec07b8b0ad4e5eb654',
  object: 'response',
  created_at: 1_760_000_000,
  status,
  error: null,
  incomplete_details: null,
  model: 'gpt-6-sol',
  output: [],
  parallel_tool_calls: true,
  store: false,
  usage: null,
  ...more,
});
const begin = [
  { type: 'response.created', response: response('in_progress') },
  { type: 'response.in_progress', response: response('in_progress') },
];
const USAGE = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 8,
  output_tokens_details: { reasoning_tokens: 5 },
  total_tokens: 28,
};
const completed = (usage: object = USAGE) => ({
  type: 'response.completed',
  response: response('completed', { usage }),
});
const added = (output_index: number, item: object) => ({ type: 'response.output_item.added', output_index, item });
const done = (output_index: number, item: object) => ({ type: 'response.output_item.done', output_index, item });
const message = { id: 'msg_1', type: 'message', role: 'assistant' };
const part = { item_id: 'msg_1', output_index: 0, content_index: 0 };
const said = (delta: string) => ({ type: 'response.output_text.delta', ...part, delta, logprobs: [] });
const saying = [
  added(0, { ...message, status: 'in_progress', content: [] }),
  { type: 'response.content_part.added', ...part, part: { type: 'output_text', annotations: [], text: '' } },
];
const says = (text: string) => [
  { type: 'response.output_text.done', ...part, text, logprobs: [] },
  { type: 'response.content_part.done', ...part, part: { type: 'output_text', annotations: [], text } },
  done(0, { ...message, status: 'completed', content: [{ type: 'output_text', annotations: [], text }] }),
];
const answer = (text: string, usage?: object): Chunks =>
  numbered(...begin, ...saying, said(text), ...says(text), completed(usage));
const call = (index: number, args: string) => ({
  id: `fc_${index}`,
  type: 'function_call',
  call_id: `call_p${index}`,
  name: 'add',
  arguments: args,
});
const argued = (index: number, delta: string) => ({
  type: 'response.function_call_arguments.delta',
  item_id: `fc_${index}`,
  output_index: index,
  delta,
});
const called = (index: number, args: string) => [
  { type: 'response.function_call_arguments.done', item_id: `fc_${index}`, output_index: index, arguments: args },
  done(index, { ...call(index, args), status: 'completed' }),
];
const REASONING = { id: 'rs_1', type: 'reasoning' };
const summed = { item_id: 'rs_1', output_index: 0, summary_index: 0 };
const thinking = [
  added(0, { ...REASONING, encrypted_content: 'gAAAAABbegin', summary: [] }),
  { type: 'response.reasoning_summary_part.added', ...summed, part: { type: 'summary_text', text: '' } },
  { type: 'response.reasoning_summary_text.delta', ...summed, delta: 'I add.' },
  { type: 'response.reasoning_summary_text.done', ...summed, text: 'I add.' },
  { type: 'response.reasoning_summary_part.done', ...summed, part: { type: 'summary_text', text: 'I add.' } },
  done(0, {
    ...REASONING,
    encrypted_content: 'gAAAAABlocked',
    summary: [{ type: 'summary_text', text: 'I add.' }],
  }),
];
const made = (call_id: string, a: number) => ({
  type: 'function_call',
  call_id,
  name: 'add',
  arguments: JSON.stringify({ a }),
});
const result = (call_id: string, output: string) => ({ type: 'function_call_output', call_id, output });
const system = (name: string) => ({ role: name, content: 'Add.' });
const asked = { role: 'user', content: [{ type: 'input_text', text: 'What is 2 + 2?' }] };

const failing = (...events: Event[]) => replied(numbered(...begin, ...events));
const error = (status: number, code: string | null, type: string, text: string, headers?: Record<string, string>) =>
  answered(status, { error: { message: text, type, param: null, code } }, headers);
const failures: Fixture['failures'] = [
  [
    'a key that it does not know',
    error(401, 'invalid_api_key', 'invalid_request_error', 'Incorrect API key provided.'),
    'model_auth_failed',
  ],
  [
    'a model that does not exist',
    error(404, 'model_not_found', 'invalid_request_error', 'The model `gpt-6-sol` does not exist.'),
    'model_refused_request',
    { message: textOf('does not exist') },
  ],
  [
    'too many',
    error(429, 'rate_limit_exceeded', 'tokens', 'Rate limit reached for gpt-6-sol.', { 'retry-after-ms': '1500' }),
    'model_rate_limited',
    { retryAfterMs: 1_500, message: textOf('Rate limit reached') },
  ],
  [
    'no credit',
    error(429, 'insufficient_quota', 'insufficient_quota', 'You exceeded your current quota.'),
    'model_refused_request',
    { retryable: false, message: textOf('You exceeded your current quota.') },
  ],
  [
    'too long a prompt',
    error(400, 'context_length_exceeded', 'invalid_request_error', 'Your input exceeds the context window.'),
    'model_context_overflow',
  ],
  [
    'an error, within the stream',
    failing({ type: 'error', code: 'server_error', message: 'The server had an error.', param: null }),
    'model_unavailable',
    { message: textOf('The server had an error.') },
  ],
  [
    'a response that failed',
    failing(...saying, said('Once'), {
      type: 'response.failed',
      response: response('failed', { error: { code: 'rate_limit_exceeded', message: 'Rate limit reached.' } }),
    }),
    'model_rate_limited',
    { message: textOf('Rate limit reached.') },
  ],
  [
    'a reply that it filters',
    failing(...saying, said('Once'), {
      type: 'response.incomplete',
      response: response('incomplete', { incomplete_details: { reason: 'content_filter' }, usage: USAGE }),
    }),
    'model_refused',
  ],
  ['no end', failing(...saying, said('Once')), 'model_malformed_reply'],
];

/** @param role that of the system text */
export const responsesCases = (model: string, role: string, ofProvider: Fixture['failures']): Wire['cases'] => ({
  stream: {
    cell: 'yes',
    turn: [numbered(...begin, ...saying, said('One ')), numbered(said('two.'), ...says('One two.'), completed())],
    sent: { stream: true, max_output_tokens: 2_000, model, store: false },
  },
  tools: {
    cell: 'yes',
    turn: numbered(
      ...begin,
      added(0, { ...call(0, ''), status: 'in_progress' }),
      argued(0, '{"a":'),
      argued(0, '2}'),
      ...called(0, '{"a":2}'),
      completed(),
    ),
    sent: {
      tools: [{ type: 'function', name: 'add', description: 'adds', parameters: addSchema }],
      tool_choice: 'auto',
    },
    back: { input: [system(role), asked, made('call_1_0', 2), result('call_1_0', '4')] },
  },
  'parallel tools': {
    cell: 'yes',
    turn: numbered(
      ...begin,
      added(0, { ...call(0, ''), status: 'in_progress' }),
      added(1, { ...call(1, ''), status: 'in_progress' }),
      argued(0, '{"a":'),
      argued(1, '{"a":3'),
      argued(0, '2}'),
      argued(1, '}'),
      ...called(0, '{"a":2}'),
      ...called(1, '{"a":3}'),
      completed(),
    ),
    sent: { tool_choice: 'auto' },
    back: {
      input: [
        system(role),
        asked,
        made('call_1_0', 2),
        made('call_1_1', 3),
        result('call_1_0', '4'),
        result('call_1_1', '5'),
      ],
    },
  },
  schema: {
    cell: 'yes',
    turn: answer('{"sum":4}'),
    sent: { text: { format: { type: 'json_schema', strict: false, schema: SCHEMA } } },
  },
  reasoning: {
    cell: 'yes, encrypted',
    turn: numbered(
      ...begin,
      ...thinking,
      added(1, { ...call(1, ''), status: 'in_progress' }),
      argued(1, '{"a":2}'),
      ...called(1, '{"a":2}'),
      completed(),
    ),
    sent: { reasoning: { effort: 'high' }, store: false },
    back: {
      input: [
        system('developer'),
        asked,
        {
          type: 'reasoning',
          encrypted_content: 'gAAAAABlocked',
          summary: [{ type: 'summary_text', text: 'I add.' }],
        },
        made('call_1_0', 2),
        result('call_1_0', '4'),
      ],
    },
  },
  'prompt cache': {
    cell: 'by a key',
    turn: answer('Four.', {
      ...USAGE,
      input_tokens: 150,
      input_tokens_details: { cached_tokens: 100, cache_write_tokens: 30 },
    }),
    sent: { prompt_cache_key: CACHE_KEY },
    usage: { inputTokens: 150, cacheReadTokens: 100, cacheWriteTokens: 30 },
  },
  pictures: {
    cell: 'in the result',
    sent: {
      input: [
        system(role),
        asked,
        { type: 'function_call' },
        {
          type: 'function_call_output',
          output: [
            { type: 'input_text', text: '{"filename":"a.png"}' },
            { type: 'input_image', image_url: `data:image/png;base64,${PIXELS}` },
          ],
        },
      ],
    },
  },
  usage: {
    cell: 'cache read and written, reasoning',
    turn: answer('Four.', {
      ...USAGE,
      input_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
    }),
    usage: { inputTokens: 20, outputTokens: 8, cacheReadTokens: 4, cacheWriteTokens: 2, reasoningTokens: 5 },
  },
  errors: { cell: 'yes', failures: [...failures.slice(-4), ...ofProvider] },
});

export const OPENAI: Wire = {
  label: 'OpenAI Responses',
  model: 'gpt-6-sol',
  env: { OPENAI_API_KEY: KEY },
  path: '/v1/responses',
  headers: { authorization: `Bearer ${KEY}` },
  cases: responsesCases('gpt-6-sol', 'developer', failures.slice(0, -4)),
};
