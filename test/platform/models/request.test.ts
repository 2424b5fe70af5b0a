/** What goes to each provider, byte for byte as the SDK's own loop would send it, though that is not what calls it. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { jsonSchema, streamText, tool, type ModelMessage } from 'ai';
import { createModels } from '../../../src/platform/models/models.ts';
import type { ModelCall, ModelCredentials } from '../../../src/platform/models/types.ts';
import { startProviderServer, type ProviderServer } from '../../support/fakes/provider-server.ts';
import { configFor, KEY, log } from './calls.ts';

let wire: ProviderServer;
beforeAll(async () => {
  wire = await startProviderServer();
  wire.answer(() => ({ status: 400, body: { error: { message: 'not today' } } }));
});
afterAll(() => wire.close());

type Thought = Record<string, Record<string, string>>;
const SYSTEM = 'You add.\nWell.';
const numbers = { a: { type: 'number' as const }, b: { type: 'number' as const } };
const add = {
  name: 'add',
  description: 'adds two numbers',
  parameters: { type: 'object' as const, properties: numbers, required: ['a'] },
};
const bare = { name: 'now', description: '', parameters: { type: 'object' as const, properties: {} } };

/** A conversation with all that a record may have. @param thought what the provider gave with its reasoning */
const conversation = (thought: Thought): ModelMessage[] => [
  { role: 'user', content: 'First “question”\u2028' },
  { role: 'assistant', content: 'First answer' },
  { role: 'user', content: 'What is 2 + 3, and the time?' },
  {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'I should add.', providerOptions: thought },
      { type: 'text', text: 'Let me see.' },
      { type: 'tool-call', toolCallId: 'call_1_0', toolName: 'add', input: { a: 2, b: 3 } },
      { type: 'tool-call', toolCallId: 'call_1_1', toolName: 'now', input: {} },
    ],
  },
  {
    role: 'tool',
    content: [
      { type: 'tool-result', toolCallId: 'call_1_0', toolName: 'add', output: { type: 'json', value: { sum: 5 } } },
      { type: 'tool-result', toolCallId: 'call_1_1', toolName: 'now', output: { type: 'error-json', value: 'broken' } },
    ],
  },
  {
    role: 'assistant',
    content: [
      { type: 'text', text: '' },
      { type: 'text', text: 'It is 5' },
    ],
  },
  { role: 'user', content: 'Go on.' },
];

const PROVIDERS: Record<string, { model: string; credentials: () => ModelCredentials; thought: Thought }> = {
  Anthropic: {
    model: 'claude-sonnet-5',
    credentials: () => ({ anthropic: KEY }),
    thought: { anthropic: { signature: 'sig' } },
  },
  OpenAI: {
    model: 'gpt-6-sol',
    credentials: () => ({ openai: KEY }),
    thought: { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'hidden' } },
  },
  'a compatible server': {
    model: 'local-1',
    credentials: () => ({ 'openai-compatible': { baseUrl: wire.url, model: 'local-1', isOperators: true } }),
    thought: {},
  },
};

const sdkModel = (name: string, model: string) => {
  const settings = { apiKey: KEY, baseURL: wire.url };
  if (name === 'Anthropic') return createAnthropic(settings)(model);
  if (name === 'OpenAI') return createOpenAI(settings)(model);
  return createOpenAICompatible({ name: 'openai-compatible', baseURL: wire.url, includeUsage: true })(model);
};

const bodyOf = async (request: () => PromiseLike<unknown>): Promise<string | undefined> => {
  wire.requests.length = 0;
  await request().then(
    () => {},
    () => {},
  );
  return wire.requests.at(0)?.body;
};

// Guards: what is left out of the SDK is its loop over the answer, and nothing of the request.
test.each(
  Object.entries(PROVIDERS).flatMap(([name, provider]) => [
    [name, 'with tools', provider, [add, bare]] as const,
    [name, 'without tools', provider, []] as const,
  ]),
)('asks %s %s as the SDK does', async (name, _, { model, credentials, thought }, tools) => {
  const models = createModels(configFor({ ANTHROPIC_BASE_URL: wire.url, OPENAI_BASE_URL: wire.url }), { log });
  const messages = conversation(thought);
  const call: ModelCall = {
    resolved: models.resolve({ model, prompt: 'hello' }, credentials()),
    credentials: credentials(),
    messages,
    system: SYSTEM,
    tools,
    maxOutputTokens: 100,
    timeoutMs: 20_000,
    signal: new AbortController().signal,
  };
  const ours = await bodyOf(() => models.call(call));
  const theirs = await bodyOf(
    () =>
      streamText({
        model: sdkModel(name, model),
        system: SYSTEM,
        messages,
        tools: Object.fromEntries(
          tools.map(({ name: title, description, parameters }) => [
            title,
            tool({ description, inputSchema: jsonSchema(parameters) }),
          ]),
        ),
        maxOutputTokens: 100,
        maxRetries: 0,
        providerOptions: {
          openai: { strictJsonSchema: false, store: false },
          openaiCompatible: { strictJsonSchema: false },
        },
        onError: () => {},
      }).text,
  );
  expect(ours).toContain('Go on.');
  // Marks of the cache are ours (`what-is-asked.test.ts`).
  expect(ours?.replaceAll(',"cache_control":{"type":"ephemeral"}', '')).toBe(theirs);
});
