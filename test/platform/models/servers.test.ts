/**
 * The wire traffic of servers that people run or rent: what each sends for a streamed answer and for a call of a tool, in
 * the pieces, with the omissions and the extra fields that are its own.
 */
import { expect, test } from '@jest/globals';
import { present } from '../../../src/platform/core/present.ts';
import { createModels } from '../../../src/platform/models/models.ts';
import type { Reply } from '../../support/fakes/openai-server.ts';
import { sse } from '../../support/fakes/openai-server.ts';
import { call, configFor, failureOf, log, searchTool, server, useProvider } from './calls.ts';

useProvider();

const NAME = 'mcp_files_search';
const line = (data: unknown): string => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
const piece = (extra: object, delta: object, finish_reason: string | null = null) =>
  line({ object: 'chat.completion.chunk', ...extra, choices: [{ index: 0, delta, finish_reason }] });
const nameIn = (request: { body: { tools?: { function: { name: string } }[] } }) =>
  request.body.tools?.[0]?.function.name ?? NAME;
/** The name of a tool as the request had it: the service writes its own ones in another way. */
const calling =
  (events: (name: string) => string[]): Reply =>
  (response, request) =>
    sse(...events(nameIn(request)))(response, request);
const json =
  (body: (name: string) => unknown): Reply =>
  (response, request) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body(nameIn(request)), null, 2));
  };

const ollama = { id: 'chatcmpl-81', created: 1_760_000_000, model: 'qwen3:8b', system_fingerprint: 'fp_ollama' };
const vllm = { id: 'chatcmpl-9f0c', created: 1_760_000_000, model: 'Qwen/Qwen3-8B' };
const llamaCpp = { created: 1_760_000_000, id: 'chatcmpl-Qm', model: 'gpt-3.5-turbo', system_fingerprint: 'b6000-1' };
const lmStudio = { id: 'chatcmpl-x1', created: 1_760_000_000, model: 'qwen3-8b', system_fingerprint: 'qwen3-8b' };
const openRouter = { id: 'gen-1760000000-a', provider: 'DeepInfra', model: 'qwen/qwen3-8b', created: 1_760_000_000 };

/** An answer of two words, and how many tokens the server says that it took; null where it says nothing. */
const ANSWERS: Record<
  string,
  { reply: Reply; usage: { inputTokens: number; outputTokens: number; billedUsd?: number } | null }
> = {
  'Ollama: a role in each piece, usage in a piece of its own': {
    reply: sse(
      piece(ollama, { role: 'assistant', content: 'Hello' }),
      piece(ollama, { role: 'assistant', content: ' there' }),
      piece(ollama, { role: 'assistant', content: '' }, 'stop'),
      line({ ...ollama, choices: [], usage: { prompt_tokens: 26, completion_tokens: 3, total_tokens: 29 } }),
      line('[DONE]'),
    ),
    usage: { inputTokens: 26, outputTokens: 3 },
  },
  'vLLM: an empty piece first, null fields, a stop reason': {
    reply: sse(
      piece(vllm, { role: 'assistant', content: '', reasoning_content: null }),
      piece(vllm, { content: 'Hello' }),
      piece(vllm, { content: ' there' }),
      line({
        ...vllm,
        choices: [{ index: 0, delta: { content: '' }, logprobs: null, finish_reason: 'stop', stop_reason: null }],
      }),
      line({ ...vllm, choices: [], usage: { prompt_tokens: 26, total_tokens: 29, completion_tokens: 3 } }),
      line('[DONE]'),
    ),
    usage: { inputTokens: 26, outputTokens: 3 },
  },
  'llama.cpp: content null first, timings, usage beside them': {
    reply: sse(
      piece(llamaCpp, { role: 'assistant', content: null }),
      piece(llamaCpp, { content: 'Hello' }),
      piece(llamaCpp, { content: ' there' }),
      piece(llamaCpp, {}, 'stop'),
      line({
        ...llamaCpp,
        choices: [],
        usage: { completion_tokens: 3, prompt_tokens: 26, total_tokens: 29 },
        timings: { prompt_n: 26, predicted_n: 3, predicted_per_second: 41.2 },
      }),
      line('[DONE]'),
    ),
    usage: { inputTokens: 26, outputTokens: 3 },
  },
  'LM Studio: no usage at all': {
    reply: sse(
      piece(lmStudio, { role: 'assistant', content: 'Hello' }),
      piece(lmStudio, { role: 'assistant', content: ' there' }),
      piece(lmStudio, {}, 'stop'),
      line('[DONE]'),
    ),
    usage: null,
  },
  'OpenRouter: comments that keep the connection, reasoning, a native finish reason': {
    reply: sse(
      ': OPENROUTER PROCESSING\n\n',
      piece(openRouter, { role: 'assistant', content: '', reasoning: 'They greet.' }),
      ': OPENROUTER PROCESSING\n\n',
      piece(openRouter, { role: 'assistant', content: 'Hello' }),
      piece(openRouter, { role: 'assistant', content: ' there' }),
      line({
        ...openRouter,
        choices: [
          { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: 'stop', native_finish_reason: 'eos' },
        ],
      }),
      line({
        ...openRouter,
        choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }],
        usage: { prompt_tokens: 26, completion_tokens: 3, total_tokens: 29, cost: 0.00001 },
      }),
      line('[DONE]'),
    ),
    usage: { inputTokens: 26, outputTokens: 3, billedUsd: 0.00001 },
  },
  'a server that does not stream': {
    reply: json(() => ({
      id: 'cmpl-1',
      object: 'chat.completion',
      created: 1_760_000_000,
      model: 'local',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello there' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 26, completion_tokens: 3, total_tokens: 29 },
    })),
    usage: { inputTokens: 26, outputTokens: 3 },
  },
};

// Guards: an answer of each server arrives whole, with its own count of tokens, or ours where it has none: never zero.
test.each(Object.entries(ANSWERS))('an answer of %s', async (_server, { reply, usage }) => {
  server.script(reply);
  const got = await call();
  expect(got).toMatchObject({ text: 'Hello there', toolCalls: [], finishReason: 'stop' });
  if (usage) expect(got.usage).toEqual(usage);
  else expect([got.usage.inputTokens > 0, got.usage.outputTokens > 0]).toEqual([true, true]);
});

const ARGUMENTS = '{"query":"salt and pepper"}';
const begun = (name: string, args: string, more: object = {}) => ({
  tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name, arguments: args }, ...more }],
});
const goesOn = (args: string, more: object = {}) => ({
  tool_calls: [{ index: 0, function: { arguments: args }, ...more }],
});

/** A call of a tool, and the reason with which the server ends it. */
const CALLS: Record<string, Reply> = {
  'Ollama: whole, ended with stop': calling((name) => [
    piece(ollama, { role: 'assistant', content: '', ...begun(name, ARGUMENTS) }),
    piece(ollama, { role: 'assistant', content: '' }, 'stop'),
    line('[DONE]'),
  ]),
  'vLLM: in pieces, without a type in those that follow': calling((name) => [
    piece(vllm, { role: 'assistant', content: '' }),
    piece(vllm, begun(name, '')),
    ...present(ARGUMENTS.match(/.{1,4}/g)).map((part) => piece(vllm, goesOn(part))),
    piece(vllm, { content: '' }, 'tool_calls'),
    line('[DONE]'),
  ]),
  'llama.cpp: the name first, then letters': calling((name) => [
    piece(llamaCpp, { role: 'assistant', content: null }),
    piece(llamaCpp, begun(name, '{')),
    ...[...ARGUMENTS.slice(1)].map((part) => piece(llamaCpp, goesOn(part))),
    piece(llamaCpp, {}, 'tool_calls'),
    line('[DONE]'),
  ]),
  'LM Studio: a number for an id, type in each piece': calling((name) => [
    piece(lmStudio, { role: 'assistant', ...begun(name, '', { id: '365174485' }) }),
    piece(lmStudio, goesOn(ARGUMENTS.slice(0, 9), { type: 'function' })),
    piece(lmStudio, goesOn(ARGUMENTS.slice(9), { type: 'function' })),
    piece(lmStudio, {}, 'tool_calls'),
    line('[DONE]'),
  ]),
  'OpenRouter: words before it, a finish reason of its own': calling((name) => [
    ': OPENROUTER PROCESSING\n\n',
    piece(openRouter, { role: 'assistant', content: 'I look.' }),
    piece(openRouter, { role: 'assistant', content: null, ...begun(name, ARGUMENTS) }),
    line({
      ...openRouter,
      choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls', native_finish_reason: 'function_call' }],
    }),
    line('[DONE]'),
  ]),
  'a server that does not stream': json((name) => ({
    id: 'cmpl-1',
    object: 'chat.completion',
    model: 'local',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call_1', type: 'function', function: { name, arguments: ARGUMENTS } }],
        },
        finish_reason: 'tool_calls',
      },
    ],
  })),
};

// Guards: a call in whatever pieces is one call, with arguments that are whole, whatever the server calls its end.
test.each(Object.entries(CALLS))('a call of a tool by %s', async (_server, reply) => {
  server.script(reply);
  const got = await call({ tools: [searchTool] });
  expect(got.toolCalls).toEqual([
    { callId: expect.any(String), tool: 'mcp.files.search', arguments: { query: 'salt and pepper' } },
  ]);
});

// Guards: a reply that was cut off says so; one that ends for a reason that nobody knows is taken as it is.
test.each([
  ['length', 'length'],
  ['eos', 'other'],
])('an answer that ends with %s', async (sent, told) => {
  server.script(sse(piece(vllm, { content: 'Hello' }), piece(vllm, {}, sent), line('[DONE]')));
  expect(await call()).toMatchObject({ text: 'Hello', finishReason: told });
});

// Guards: an error that comes with status 200, as some servers send it, is a failure and no empty answer.
test('an error with status 200 is a failure', async () => {
  server.script(json(() => ({ error: { message: 'model not loaded', type: 'server_error' } })));
  expect((await failureOf()).message).not.toBe('');
});

// Guards: `0` is a price, no price is none, and a price counts for the server that it was said of.
test.each([
  ['0', '0'],
  ['0.15,0.60', '0.75'],
  [undefined, null],
])('a server whose price is %s', (OPENAI_COMPATIBLE_PRICE, usd) => {
  const models = createModels(
    configFor({
      OPENAI_COMPATIBLE_BASE_URL: server.baseUrl,
      ...(OPENAI_COMPATIBLE_PRICE && { OPENAI_COMPATIBLE_PRICE }),
    }),
    { log },
  );
  const credentials = models.credentials();
  const resolved = models.resolve({ model: 'auto', prompt: 'hello' }, credentials);
  const million = { inputTokens: 1_000_000, outputTokens: 1_000_000 };
  expect(models.price(resolved, million, { ofServer: credentials['openai-compatible']?.price })).toBe(usd);
});

// Guards: what is no price stops the start, rather than a budget later.
test.each(['free', '1', '-1,2', '1,2,3', '1,'])('a price of %s is refused', (OPENAI_COMPATIBLE_PRICE) => {
  expect(() => configFor({ OPENAI_COMPATIBLE_PRICE })).toThrow('OPENAI_COMPATIBLE_PRICE: expects 0 for a model');
});
