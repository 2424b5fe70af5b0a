import { expect, test } from '@jest/globals';
import { APICallError } from 'ai';
import { secretsAmong } from '../../../src/platform/models/catalogue.ts';
import { PROVIDER_NAMES } from '../../../src/platform/models/types.ts';
import { toModelFailure } from '../../../src/platform/models/failures.ts';
import { MAX_RETRY_AFTER_MS, retryAfterMsIn } from '../../../src/platform/models/provider-numbers.ts';

const subject = {
  resolved: { model: 'claude-sonnet-5', provider: 'anthropic' },
  credentials: { anthropic: 'canary-4711' },
} as const;
const answered = (statusCode: number, message: string, responseBody = '') =>
  new APICallError({ message, statusCode, responseBody, url: 'http://localhost', requestBodyValues: {} });

// Guards: each wording of "too long" of a provider or server is recognised, because a retry would fail for ever.
test.each([
  'prompt is too long: 208310 tokens > 200000 maximum',
  'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000',
  "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
  'Your input exceeds the context window of this model. Please adjust your input and try again.',
  'the request exceeds the available context size. try increasing the context size',
  'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
  'Please reduce the length of the messages or completion.',
])('knows an overflow: %s', (message) => {
  expect(toModelFailure(answered(400, message), subject)).toMatchObject({
    code: 'model_context_overflow',
    retryable: false,
  });
});

// Guards: the error code in the body counts where the message says nothing.
test('knows an overflow by its code', () => {
  const error = answered(400, 'Bad Request', '{"error":{"code":"context_length_exceeded"}}');
  expect(toModelFailure(error, subject)).toMatchObject({ code: 'model_context_overflow' });
});

// Guards: errors inside a stream come as plain objects and strings, and an overload among them is retried too.
test.each<[unknown, string]>([
  [{ type: 'overloaded_error', message: 'Overloaded' }, 'model_unavailable'],
  [{ type: 'error', code: 'rate_limit_exceeded', message: 'slow down' }, 'model_rate_limited'],
  ['Rate limit reached', 'model_rate_limited'],
  [{ code: 'context_length_exceeded', message: 'too long' }, 'model_context_overflow'],
])('names an error in a stream: %j', (error, code) => {
  expect(toModelFailure(error, subject)).toMatchObject({ code });
});

// Guards: a bug of ours keeps its stack and is not blamed on the provider.
test('gives back what is not a provider failure', () => {
  const bug = new TypeError('cannot read properties of undefined');
  expect(toModelFailure(bug, subject)).toBe(bug);
});

// Guards against: a new provider whose key nobody removes from its messages.
test.each(PROVIDER_NAMES)('quotes no credential of %s', (name) => {
  const canaries = {
    anthropic: 'canary-anthropic',
    openai: 'canary-openai',
    google: { apiKey: 'canary-google' },
    'google-vertex': { apiKey: 'canary-vertex' },
    'amazon-bedrock': {
      region: 'eu-central-1',
      apiKey: 'canary-bedrock',
      accessKey: { id: 'canary-id', secret: 'canary-secret', session: 'canary-session' },
    },
    'azure-openai': { apiKey: 'canary-azure', baseUrl: 'http://localhost/openai', model: 'm' },
    mistral: { apiKey: 'canary-mistral' },
    'openai-compatible': { baseUrl: 'http://localhost/canary-in-the-path/v1', apiKey: 'canary-server', model: 'm' },
  };
  const credentials = { [name]: canaries[name] };
  const secrets = secretsAmong(credentials);
  expect(secrets.length).toBeGreaterThan(0);
  const failure = toModelFailure(answered(400, `it said ${secrets.join(' and ')}`), { ...subject, credentials });
  expect(String((failure as Error).message)).toContain('it said ***');
  expect(JSON.stringify(failure)).not.toContain('canary');
});

// Guards: neither a known key nor a text that looks like one gets into what is stored and logged.
test('quotes no credential', () => {
  const said = 'header x-api-key: canary-4711; Authorization: Bearer abc.def; sk-ant-REDACTED and sk_live_1234567';
  for (const error of [answered(400, said), answered(401, said), answered(422, said), { message: said }]) {
    const { message } = toModelFailure(error, subject) as Error;
    expect(message).not.toMatch(/canary|abc\.def|sk-ant|sk_live/);
  }
});

// Guards: each form of Retry-After is read; nonsense gives no wait, a date in the past no negative one, and no provider
// a wait that no timer holds. How long a call may wait is MODEL_MAX_RETRY_AFTER's to say (error-shapes).
test.each<[string | undefined, string | undefined, number | undefined]>([
  ['3', undefined, 3_000],
  ['0.5', undefined, 500],
  ['Thu, 01 Jan 2026 00:00:30 GMT', undefined, 30_000],
  ['Wed, 31 Dec 2025 23:59:00 GMT', undefined, 0],
  ['30', '250', 250],
  ['30', 'soon', 30_000],
  ['31536000', undefined, MAX_RETRY_AFTER_MS],
  ['9'.repeat(320), undefined, MAX_RETRY_AFTER_MS],
  ['Fri, 01 Jan 2038 00:00:00 GMT', undefined, MAX_RETRY_AFTER_MS],
  [undefined, '99999999999', MAX_RETRY_AFTER_MS],
  ...[undefined, '', ' ', 'soon', '-5', '1e25', 'NaN', 'Infinity'].map((nonsense) => [nonsense, nonsense, undefined]),
] as never)('retry-after %s, retry-after-ms %s', (seconds, ms, expected) => {
  const headers = { ...(seconds && { 'retry-after': seconds }), ...(ms && { 'retry-after-ms': ms }) };
  expect(retryAfterMsIn(headers, Date.parse('2026-01-01T00:00:00Z'))).toBe(expected);
});
