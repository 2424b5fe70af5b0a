/** Azure OpenAI. */
import { expect } from '@jest/globals';
import { addSchema, answered, KEY, stream, type Fixture } from './fixture.ts';

// https://learn.microsoft.com/azure/ai-foundry/openai/latest
const azureError = (status: number, code: string, message: string, headers?: Record<string, string>) =>
  answered(status, { error: { code, message } }, headers);
export const AZURE_FAILURES: Fixture['failures'] = [
  [
    'a key that it does not know',
    azureError(401, '401', 'Access denied due to invalid subscription key or wrong API endpoint.'),
    'model_auth_failed',
  ],
  [
    'no such deployment',
    azureError(404, 'DeploymentNotFound', 'The API deployment for this resource does not exist.'),
    'model_refused_request',
    { message: expect.stringContaining('Check the model id') },
  ],
  [
    'too many',
    azureError(429, '429', 'Requests have exceeded the token rate limit.', { 'retry-after': '6' }),
    'model_rate_limited',
    { retryAfterMs: 6_000 },
  ],
  [
    'a prompt that it filters',
    answered(400, {
      error: {
        message: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        type: null,
        param: 'prompt',
        code: 'content_filter',
        status: 400,
        innererror: { code: 'ResponsibleAIPolicyViolation', content_filter_result: {} },
      },
    }),
    'model_refused',
  ],
];
export const AZURE_ENV = { AZURE_OPENAI_API_KEY: KEY, AZURE_OPENAI_DEPLOYMENT: 'our-gpt' };
const chat = (part: object, finish_reason: string | null = null, more: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_760_000_000,
  model: 'gpt-4o-2024-11-20',
  system_fingerprint: 'fp_1',
  choices: [{ index: 0, delta: part, finish_reason, content_filter_results: {} }],
  ...more,
});
const chatMessages = (text: string | null = '') => [
  { role: 'system', content: 'Add.' },
  { role: 'user', content: expect.anything() },
  {
    role: 'assistant',
    content: text,
    tool_calls: [{ type: 'function', id: 'call_1_0', function: { name: 'add', arguments: '{"a":2}' } }],
  },
  { role: 'tool', tool_call_id: 'call_1_0', content: '4' },
];

export const AZURE: Record<string, Fixture> = {
  'Azure OpenAI, in a dated version': {
    model: 'azure/our-gpt',
    env: { ...AZURE_ENV, AZURE_OPENAI_API_VERSION: '2024-10-21' },
    turn: stream(
      { id: '', object: '', created: 0, model: '', choices: [], prompt_filter_results: [] },
      chat({ role: 'assistant', content: null }),
      chat({
        tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":2}' } }],
      }),
      chat({}, 'tool_calls'),
      { ...chat({}), choices: [], usage: { prompt_tokens: 20, completion_tokens: 8, total_tokens: 28 } },
      '[DONE]',
    ),
    end: stream(chat({ content: 'Four.' }), chat({}, 'stop'), '[DONE]'),
    usage: { inputTokens: 20, outputTokens: 8 },
    path: '/v1/deployments/our-gpt/chat/completions?api-version=2024-10-21',
    headers: { 'api-key': KEY },
    sent: {
      messages: chatMessages(null),
      tools: [{ type: 'function', function: { name: 'add', parameters: addSchema } }],
    },
    failures: [
      ...AZURE_FAILURES,
      [
        'a reply that it filters',
        stream(chat({ content: 'Once' }), chat({}, 'content_filter'), '[DONE]'),
        'model_refused',
      ],
    ],
  },
};
