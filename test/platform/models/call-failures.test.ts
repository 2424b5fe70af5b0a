/** A call of a model that fails: as what, and what is said of it. */
import { expect, test } from '@jest/globals';
import { first, present } from '../../../src/platform/core/present.ts';
import { createModels } from '../../../src/platform/models/models.ts';
import type { ModelFailure } from '../../../src/platform/models/types.ts';
import * as provider from '../../support/fakes/openai-server.ts';
import { useProvider, server, KEY, log, configFor, user, call, failureOf, searchTool } from './calls.ts';

useProvider();

// Guards: each failure of a provider has its name and says whether to retry.
test.each<[string, provider.Reply, Partial<ModelFailure>]>([
  [
    '429 with seconds',
    provider.refuse(429, { message: 'slow' }, { 'retry-after': '7' }),
    { code: 'model_rate_limited', retryable: true, retryAfterMs: 7_000 },
  ],
  [
    '429 without',
    provider.refuse(429, { message: 'slow' }),
    { code: 'model_rate_limited', retryable: true, retryAfterMs: undefined },
  ],
  ['500', provider.refuse(500, { message: 'oops' }), { code: 'model_unavailable', retryable: true }],
  ['529', provider.refuse(529, { message: 'overloaded' }), { code: 'model_unavailable', retryable: true }],
  [
    '503 with a page',
    (response) => void response.writeHead(503).end('<html>down</html>'),
    { code: 'model_unavailable', retryable: true },
  ],
  ['reset in mid-stream', provider.reset('Once upon'), { code: 'model_unavailable', retryable: true }],
  [
    'error in mid-stream',
    provider.failInStream('the server had an error'),
    { code: 'model_unavailable', retryable: true },
  ],
  [
    'no connection at all',
    (response) => void present(response.socket).resetAndDestroy(),
    { code: 'model_unavailable', retryable: true },
  ],
  ['end without a finish', provider.truncate('Once upon'), { code: 'model_malformed_reply', retryable: true }],
  ['broken SSE data', provider.sse('data: {"id": broken\n\n'), { code: 'model_malformed_reply', retryable: true }],
  [
    'another protocol',
    provider.sse('data: {"hello": "world"}\n\n'),
    { code: 'model_malformed_reply', retryable: true },
  ],
  [
    'a page instead of a stream',
    (response) => void response.writeHead(200).end('<html>hi</html>'),
    { code: 'model_malformed_reply', retryable: true },
  ],
  [
    'an empty body',
    (response) => void response.writeHead(200).end(),
    { code: 'model_malformed_reply', retryable: true },
  ],
  [
    'many more words than asked for',
    provider.answer('word '.repeat(2_000)),
    { code: 'model_reply_too_long', retryable: false },
  ],
  [
    'a line without end',
    provider.sse(`data: ${'x'.repeat(1_000_000)}`),
    { code: 'model_reply_too_long', retryable: false },
  ],
  [
    'comments without end',
    provider.sse(': wait\n\n'.repeat(20_000)),
    { code: 'model_reply_too_long', retryable: false },
  ],
  ['an empty answer', provider.answer('  '), { code: 'model_malformed_reply', retryable: true }],
  [
    'context overflow',
    provider.refuse(400, {
      message: "This model's maximum context length is 8192 tokens.",
      code: 'context_length_exceeded',
    }),
    { code: 'model_context_overflow', retryable: false },
  ],
  ['413', provider.refuse(413, { message: 'Request too large' }), { code: 'model_context_overflow', retryable: false }],
  [
    '401',
    provider.refuse(401, { message: `Incorrect API key provided: ${KEY}` }),
    { code: 'model_auth_failed', retryable: false },
  ],
  ['403', provider.refuse(403, { message: 'no access' }), { code: 'model_auth_failed', retryable: false }],
  ['404', provider.refuse(404, { message: 'no such model' }), { code: 'model_refused_request', retryable: false }],
  [
    '400',
    provider.refuse(400, { message: `bad temperature, key ${KEY}, sk-abcdefghijkl` }),
    { code: 'model_refused_request', retryable: false },
  ],
])('names the failure: %s', async (_, reply, expected) => {
  server.script(reply);
  const failure = await failureOf({ tools: [{ ...searchTool, name: 'search' }] });
  expect(failure).toMatchObject(expected);
  expect(server.requests).toHaveLength(1); // Retrying is the workflow's business.
  expect(failure.message).not.toMatch(/canary|sk-abc/);
});

// Guards: Retry-After is read in its form as an HTTP date.
test('reads Retry-After as a date', async () => {
  const inAMinute = new Date(Date.now() + 60_000).toUTCString();
  server.script(provider.refuse(429, { message: 'slow' }, { 'retry-after': inAMinute }));
  const { retryAfterMs } = await failureOf();
  expect(retryAfterMs).toBeGreaterThan(50_000);
  expect(retryAfterMs).toBeLessThanOrEqual(60_000);
});

// Guards: a provider that is down is told apart from one that refuses.
test('names a refused connection', async () => {
  const gone = await provider.startOpenAiServer();
  await gone.close();
  const elsewhere = createModels(configFor({ OPENAI_COMPATIBLE_BASE_URL: gone.baseUrl }), { log });
  const credentials = elsewhere.credentials();
  const failed = elsewhere.call({
    resolved: elsewhere.resolve({ model: 'auto', prompt: '' }, credentials),
    credentials,
    messages: [user('hello')],
    system: '',
    tools: [],
    maxOutputTokens: 10,
    timeoutMs: 10_000,
    signal: new AbortController().signal,
  });
  await expect(failed).rejects.toMatchObject({
    code: 'model_unavailable',
    retryable: true,
    message: expect.stringContaining('ECONNREFUSED'),
  });
});

// Guards: a provider that sends nothing, or stops half-way, does not hold a worker, and its connection is closed.
test.each([
  ['before', provider.hang()],
  ['in', provider.stall('Once upon')],
])('times out %s the reply', async (_, reply) => {
  server.script(reply);
  await expect(failureOf({ timeoutMs: 1_000 })).resolves.toMatchObject({ code: 'model_timeout', retryable: true });
  await first(server.requests).closed;
});

// Guards: a complete reply is not booked as an aborted one as well.
test('tells nothing of a reply', async () => {
  server.script(provider.answer('Here.'));
  const told: unknown[] = [];
  await call({ onAborted: (usage) => void told.push(usage) });
  expect(told).toEqual([]);
});

// Guards: nothing is sent for a call that was cancelled before it began.
test('does not begin an aborted call', async () => {
  const reason = new Error('cancelled before');
  await expect(call({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(server.requests).toHaveLength(0);
});
