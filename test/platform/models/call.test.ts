/** A call of a model: what is sent, and what becomes of the answer. */
import { expect, test } from '@jest/globals';
import { once } from 'node:events';
import { first, present } from '../../../src/platform/core/present.ts';
import { createModels } from '../../../src/platform/models/models.ts';
import * as provider from '../../support/fakes/openai-server.ts';
import { useProvider, server, KEY, log, models, configFor, user, call, failureOf, searchTool } from './calls.ts';

useProvider();

// Guards: a streamed answer arrives whole, with the usage that the provider reports, and the key is sent in its header.
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

// Guards: fragments of tool calls are put together, several in one turn, under our own names although providers refuse
// dots.
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
  const { messages, tools } = first(server.requests).body;
  expect(messages.slice(2)).toEqual([
    expect.objectContaining({
      role: 'assistant',
      tool_calls: [
        {
          id: 'c1',
          type: 'function',
          function: { name: first(present(tools)).function.name, arguments: '{"query":"it"}' },
        },
      ],
    }),
    { role: 'tool', tool_call_id: 'c1', content: '["it.txt"]' },
  ]);
});

// Guards: a call of a tool that was not offered goes to the run to answer, and does not count as a broken reply.
test('hands on a call of an unknown tool', async () => {
  server.script(provider.callTools({ id: 'c1', name: 'made_up', arguments: { a: 1 } }));
  await expect(call({ tools: [searchTool] })).resolves.toMatchObject({
    toolCalls: [{ tool: 'made_up', arguments: { a: 1 } }],
  });
});

// Guards: a required output shape is sent both as a parameter and in words, for servers that know only one of the two.
test('demands JSON', async () => {
  server.script(provider.answer('{"ok":true}'));
  const outputSchema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
  await expect(call({ outputSchema })).resolves.toMatchObject({ text: '{"ok":true}' });
  const { body } = first(server.requests);
  expect(body.response_format).toMatchObject({ type: expect.stringMatching(/^json/) });
  expect(JSON.stringify(body.messages[0])).toContain(JSON.stringify(JSON.stringify(outputSchema)).slice(1, -1));
});

// Guards: a server that reports no usage does not count as free of charge.
test('counts tokens itself where the provider does not', async () => {
  server.script(provider.answer('Four words of text', null));
  const { usage } = await call();
  expect(usage.inputTokens).toBeGreaterThan(5);
  expect(usage.outputTokens).toBeGreaterThan(3);
});

// Guards: a reply is limited to what the operator allows, however many tokens were asked for, and the message names the
// limit.
test('has an end that no number of tokens moves', async () => {
  const ENDLESS = 60_000_000;
  let sent = 0;
  server.script(async (response) => {
    const event = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'a' } }], pad: 'x'.repeat(20_000) })}\n\n`;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const closed = once(response, 'close');
    while (!response.destroyed && sent < ENDLESS) {
      sent += event.length;
      if (!response.write(event)) await Promise.race([once(response, 'drain'), closed]);
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
  await first(server.requests).closed;
  expect(sent).toBeLessThan(ENDLESS / 2);
});

// Guards: a cancelled run ends its call at once, as a cancellation and not as a failure, and no more tokens are paid
// for.
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

// Guards: what a provider bills for a call without a reply is booked, reported or counted, except for free models.
test.each<[string, provider.Reply, unknown]>([
  ['a reply that stalls', provider.stall('Once upon a time'), { inputTokens: INPUT, outputTokens: 4 }],
  ['no word until we hang up', provider.hang(), { inputTokens: INPUT, outputTokens: 0 }],
  ['a reset in mid-stream', provider.reset('Once upon a time'), { inputTokens: INPUT, outputTokens: 4 }],
  ['an error in mid-stream', provider.failInStream('sorry'), { inputTokens: INPUT, outputTokens: 1 }],
  ['an empty answer', provider.answer('  '), { inputTokens: 12, outputTokens: 3 }],
  ['429', provider.refuse(429, { message: 'slow' }), undefined],
  ['401', provider.refuse(401, { message: 'who?' }), undefined],
  ['400', provider.refuse(400, { message: 'no' }), undefined],
  ['500', provider.refuse(500, { message: 'oops' }), undefined],
  ['a connection that is not accepted', (response) => void present(response.socket).resetAndDestroy(), undefined],
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

// Guards: a workspace's own address is called through the guard, and never reaches the internal network.
test('reaches a server that a workspace names only through the guarded fetch', async () => {
  const own = { 'openai-compatible': { baseUrl: `${server.baseUrl}/own`, model: 'theirs' } };
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
  expect(first(server.requests).headers.authorization).toBeUndefined();
  expect(first(server.requests).body.model).toBe('theirs');
});

// Guards: each provider gets its own key, in its own header, at the address that the operator set for it.
test.each([
  ['claude-sonnet-5', { anthropic: KEY }, { 'x-api-key': KEY }],
  ['gpt-6-sol', { openai: KEY }, { authorization: `Bearer ${KEY}` }],
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
  expect(first(server.requests).headers).toMatchObject(headers);
  expect(first(server.requests).body).toMatchObject({ model, stream: true });
});

// Guards: a workspace's credential wins over the deployment's, and an absent one does not remove that.
test('puts the own credentials over those of the deployment', () => {
  const elsewhere = createModels(configFor({ ANTHROPIC_API_KEY: 'theirs', OPENAI_API_KEY: 'theirs' }), { log });
  expect(elsewhere.credentials({ anthropic: 'own', openai: undefined })).toEqual({
    anthropic: 'own',
    openai: 'theirs',
    'openai-compatible': undefined,
    own: ['anthropic'],
  });
});
