import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { ModelMessage } from 'ai';
import { once } from 'node:events';
import { loadConfig } from '../../../src/platform/core/config.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { createModels } from '../../../src/platform/models/models.ts';
import { ModelFailure, type ModelCall, type Models } from '../../../src/platform/models/types.ts';
import * as provider from '../../support/fakes/openai-server.ts';

const KEY = 'canary-key-4711-do-not-show';
const secret = 'only-for-this-test-only';
const log = createLog({ level: 'silent', pretty: false });
let server: provider.OpenAiServer;
let models: Models;

const configFor = (env: Record<string, string>) =>
  loadConfig({
    DATABASE_URL: 'postgres://localhost/x',
    SESSION_SECRET: secret,
    ADMIN_SECRET: secret,
    SECRETS_KEY: secret,
    ...env,
  });

beforeAll(async () => {
  server = await provider.startOpenAiServer();
  models = createModels(
    configFor({
      OPENAI_COMPATIBLE_BASE_URL: server.baseUrl,
      OPENAI_COMPATIBLE_API_KEY: KEY,
      OPENAI_COMPATIBLE_MODEL: 'local-1',
    }),
    { log },
  );
});
afterEach(() => server.reset());
afterAll(() => server.close());

const user = (content: string): ModelMessage => ({ role: 'user', content });

function call(given: Partial<ModelCall> = {}) {
  const credentials = given.credentials ?? models.credentials();
  return models.call({
    resolved: models.resolve({ model: 'auto', prompt: 'hello' }, credentials),
    credentials,
    messages: [user('hello')],
    system: 'You are helpful.',
    tools: [],
    maxOutputTokens: 100,
    timeoutMs: 20_000,
    signal: new AbortController().signal,
    ...given,
  });
}

/** The failure of a call; a call that succeeds fails the test. */
async function failureOf(given: Partial<ModelCall> = {}): Promise<ModelFailure> {
  const outcome = await call(given).then(
    (reply) => ({ reply }),
    (error: unknown) => ({ error }),
  );
  expect(outcome).toEqual({ error: expect.any(ModelFailure) });
  return (outcome as { error: ModelFailure }).error;
}

const searchTool = {
  name: 'mcp.files.search',
  description: 'finds files',
  parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
};

// Guards: a streamed answer arrives whole, with the usage that the provider reports, and the key goes in the header.
test('collects a streamed answer', async () => {
  server.script(provider.answer('The capital of France is Paris.'));
  await expect(call()).resolves.toEqual({
    text: 'The capital of France is Paris.',
    toolCalls: [],
    usage: { inputTokens: 12, outputTokens: 3 },
    finishReason: 'stop',
  });
  const [{ headers, body }] = server.requests as [provider.ChatRequest];
  expect(headers.authorization).toBe(`Bearer ${KEY}`);
  expect(body).toMatchObject({ model: 'local-1', stream: true, max_tokens: 100 });
  expect(body.messages).toEqual([
    { role: 'system', content: 'You are helpful.' },
    { role: 'user', content: 'hello' },
  ]);
});

// Guards: tool calls in fragments are put together, several in one turn, under our own names although providers refuse dots.
test('collects streamed tool calls', async () => {
  server.script(provider.answer('unused'), (response, request) => {
    const name = request.body.tools![0]!.function.name;
    provider.callTools(
      { id: 'c1', name, arguments: { query: 'a longer query, in fragments' } },
      { id: 'c2', name, arguments: { query: 'b' } },
    )(response, request);
  });
  await call();
  const reply = await call({ tools: [searchTool] });
  expect(reply.toolCalls).toEqual([
    { callId: 'c1', tool: 'mcp.files.search', arguments: { query: 'a longer query, in fragments' } },
    { callId: 'c2', tool: 'mcp.files.search', arguments: { query: 'b' } },
  ]);
  expect(reply.finishReason).toBe('tool-calls');
  expect(server.requests[1]!.body.tools![0]!.function.name).toMatch(/^[\w-]{1,64}$/);
});

// Guards: a transcript with earlier calls goes out with the same tool names as the declarations.
test('sends earlier tool calls and their results', async () => {
  server.script(provider.answer('done'));
  await call({
    tools: [searchTool],
    messages: [
      user('find it'),
      {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'mcp.files.search', input: { query: 'it' } }],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'c1',
            toolName: 'mcp.files.search',
            output: { type: 'json', value: ['it.txt'] },
          },
        ],
      },
    ],
  });
  const { messages, tools } = server.requests[0]!.body;
  expect(messages.slice(2)).toEqual([
    expect.objectContaining({
      role: 'assistant',
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: tools![0]!.function.name, arguments: '{"query":"it"}' } },
      ],
    }),
    { role: 'tool', tool_call_id: 'c1', content: '["it.txt"]' },
  ]);
});

// Guards: a tool that was not offered is the run's to answer, not a broken reply.
test('hands on a call of an unknown tool', async () => {
  server.script(provider.callTools({ id: 'c1', name: 'made_up', arguments: { a: 1 } }));
  await expect(call({ tools: [searchTool] })).resolves.toMatchObject({
    toolCalls: [{ tool: 'made_up', arguments: { a: 1 } }],
  });
});

// Guards: a demanded shape is said on the wire and in words, for servers that know only one of the two.
test('demands JSON', async () => {
  server.script(provider.answer('{"ok":true}'));
  const outputSchema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
  await expect(call({ outputSchema })).resolves.toMatchObject({ text: '{"ok":true}' });
  const { body } = server.requests[0]!;
  expect(body.response_format).toMatchObject({ type: expect.stringMatching(/^json/) });
  expect(JSON.stringify(body.messages[0])).toContain(JSON.stringify(JSON.stringify(outputSchema)).slice(1, -1));
});

// Guards: a server that reports no usage is not free of charge.
test('counts tokens itself where the provider does not', async () => {
  server.script(provider.answer('Four words of text', null));
  const { usage } = await call();
  expect(usage.inputTokens).toBeGreaterThan(5);
  expect(usage.outputTokens).toBeGreaterThan(3);
});

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
    (response) => void response.socket!.resetAndDestroy(),
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
    'arguments that are no JSON',
    provider.callTools({ id: 'c1', name: 'search', arguments: '{"query": ' }),
    { code: 'model_malformed_reply', retryable: true },
  ],
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

// Guards: the HTTP date form of Retry-After.
test('reads Retry-After as a date', async () => {
  const inAMinute = new Date(Date.now() + 60_000).toUTCString();
  server.script(provider.refuse(429, { message: 'slow' }, { 'retry-after': inAMinute }));
  const { retryAfterMs } = await failureOf();
  expect(retryAfterMs).toBeGreaterThan(50_000);
  expect(retryAfterMs).toBeLessThanOrEqual(60_000);
});

// Guards: a provider that is down is told from one that refuses.
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

// Guards: a provider that says nothing, or stops in the middle, does not hold a worker; the connection is closed.
test.each([
  ['before', provider.hang()],
  ['in', provider.stall('Once upon')],
])('times out %s the reply', async (_, reply) => {
  server.script(reply);
  await expect(failureOf({ timeoutMs: 1_000 })).resolves.toMatchObject({ code: 'model_timeout', retryable: true });
  await server.requests[0]!.closed;
});

// Guards: however many tokens were asked for, a reply is held up to what the operator says, and the message says by what.
test('has an end that no number of tokens moves', async () => {
  const ENDLESS = 60_000_000;
  let sent = 0;
  server.script(async (response) => {
    const event = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'a' } }], pad: 'x'.repeat(20_000) })}\n\n`;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    while (!response.destroyed && sent < ENDLESS) {
      sent += event.length;
      if (!response.write(event)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
    }
    response.end();
  });
  const env = {
    OPENAI_COMPATIBLE_BASE_URL: server.baseUrl,
    OPENAI_COMPATIBLE_MODEL: 'local-1',
    MODEL_MAX_REPLY_MB: '1',
  };
  const small = createModels(configFor(env), { log });
  const resolved = small.resolve({ model: 'auto', prompt: 'hello' }, small.credentials());
  await expect(
    small.call({
      resolved,
      credentials: small.credentials(),
      messages: [user('hello')],
      system: '',
      tools: [],
      maxOutputTokens: 60_000,
      timeoutMs: 20_000,
      signal: new AbortController().signal,
    }),
  ).rejects.toMatchObject({ code: 'model_reply_too_long', message: expect.stringContaining('MODEL_MAX_REPLY_MB') });
  await server.requests[0]!.closed;
  expect(sent).toBeLessThan(ENDLESS / 2);
});

// Guards: a cancelled run ends its call at once, as the cancellation and not as a failure, and stops paying for tokens.
test.each([
  ['before', provider.hang()],
  ['in', provider.stall('Once upon')],
])('rethrows the abort %s the reply and closes the connection', async (_, reply) => {
  server.script(reply);
  const controller = new AbortController();
  const reason = new Error('cancelled by the caller');
  const pending = call({ signal: controller.signal });
  const request = await server.received(1);
  controller.abort(reason);
  await expect(pending).rejects.toBe(reason);
  await request.closed;
});

/** Counted, of what `call` sends with the tool. */
const INPUT = 46;

// Guards: what a provider bills for a call that comes to no reply is told, reported or counted, and never of what is free.
test.each<[string, provider.Reply, unknown]>([
  ['a reply that stalls', provider.stall('Once upon a time'), { inputTokens: INPUT, outputTokens: 4 }],
  ['no word until we hang up', provider.hang(), { inputTokens: INPUT, outputTokens: 0 }],
  ['a reset in mid-stream', provider.reset('Once upon a time'), { inputTokens: INPUT, outputTokens: 4 }],
  ['an error in mid-stream', provider.failInStream('sorry'), { inputTokens: INPUT, outputTokens: 1 }],
  ['an empty answer', provider.answer('  '), { inputTokens: 12, outputTokens: 3 }],
  [
    'arguments that are no JSON',
    provider.callTools({ id: 'c1', name: 'search', arguments: '{"query": ' }),
    { inputTokens: INPUT, outputTokens: expect.any(Number) },
  ],
  ['429', provider.refuse(429, { message: 'slow' }), undefined],
  ['401', provider.refuse(401, { message: 'who?' }), undefined],
  ['400', provider.refuse(400, { message: 'no' }), undefined],
  ['500', provider.refuse(500, { message: 'oops' }), undefined],
  ['a connection that is not accepted', (response) => void response.socket!.resetAndDestroy(), undefined],
])('tells what is billed: %s', async (_, reply, billed) => {
  server.script(reply);
  const told: unknown[] = [];
  await failureOf({
    timeoutMs: 1_000,
    tools: [{ ...searchTool, name: 'search' }],
    onAborted: (usage) => void told.push(usage),
  });
  expect(told).toEqual(billed === undefined ? [] : [billed]);
});

// Guards: a reply is booked as what it is, and not as aborted too.
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

// Guards: a workspace cannot point the service at an address inside its network; it goes through the guard or nowhere.
test('reaches a server that a workspace names only through the guarded fetch', async () => {
  const own = { openaiCompatible: { baseUrl: `${server.baseUrl}/own`, model: 'theirs' } };
  await expect(failureOf({ credentials: models.credentials(own) })).resolves.toMatchObject({
    code: 'model_not_configured',
  });
  expect(server.requests).toHaveLength(0);

  const reached: string[] = [];
  const guarded = createModels(configFor({ OPENAI_COMPATIBLE_BASE_URL: server.baseUrl }), {
    log,
    guardedFetch: (url, init) => {
      reached.push(String(url));
      return fetch(url, init);
    },
  });
  server.script(provider.answer('from theirs'));
  const credentials = guarded.credentials(own);
  const resolved = guarded.resolve({ model: 'auto', prompt: '' }, credentials);
  const reply = await guarded.call({
    resolved,
    credentials,
    messages: [user('hello')],
    system: '',
    tools: [],
    maxOutputTokens: 10,
    timeoutMs: 10_000,
    signal: new AbortController().signal,
  });
  expect(reply.text).toBe('from theirs');
  expect(reached).toEqual([`${server.baseUrl}/own/chat/completions`]);
  expect(server.requests[0]!.headers.authorization).toBeUndefined();
  expect(server.requests[0]!.body.model).toBe('theirs');
});

// Guards: each provider gets its own key, in its own header, at the address that the operator set for it.
test.each([
  ['claude-sonnet-5', { anthropicApiKey: KEY }, { 'x-api-key': KEY }],
  ['gpt-6-sol', { openaiApiKey: KEY }, { authorization: `Bearer ${KEY}` }],
])('calls the provider of %s', async (model, own, headers) => {
  const elsewhere = createModels(configFor({ ANTHROPIC_BASE_URL: server.baseUrl, OPENAI_BASE_URL: server.baseUrl }), {
    log,
  });
  const credentials = elsewhere.credentials(own);
  server.script(provider.refuse(529, { message: 'overloaded', type: 'overloaded_error' }));
  const failed = elsewhere.call({
    resolved: elsewhere.resolve({ model, prompt: '' }, credentials),
    credentials,
    messages: [user('hello')],
    system: '',
    tools: [searchTool],
    maxOutputTokens: 10,
    timeoutMs: 10_000,
    signal: new AbortController().signal,
  });
  await expect(failed).rejects.toMatchObject({ code: 'model_unavailable', retryable: true });
  expect(server.requests).toHaveLength(1);
  expect(server.requests[0]!.headers).toMatchObject(headers);
  expect(server.requests[0]!.body).toMatchObject({ model, stream: true });
});

// Guards: a workspace's credential wins over the deployment's, and an absent one does not erase it.
test('puts the own credentials over those of the deployment', () => {
  const elsewhere = createModels(configFor({ ANTHROPIC_API_KEY: 'theirs', OPENAI_API_KEY: 'theirs' }), { log });
  expect(elsewhere.credentials({ anthropicApiKey: 'own', openaiApiKey: undefined })).toEqual({
    anthropicApiKey: 'own',
    openaiApiKey: 'theirs',
    openaiCompatible: undefined,
    own: ['anthropic'],
  });
});
