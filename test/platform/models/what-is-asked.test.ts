/** What providers are asked beside the words: how hard to think, and from where on to read from their caches. */
import { expect, test } from '@jest/globals';
import type { ModelMessage } from 'ai';
import { fieldsOf } from '../../../src/platform/core/record.ts';
import { withinHold } from '../../../src/platform/models/held-output.ts';
import type { ModelCall } from '../../../src/platform/models/types.ts';
import { present } from '../../../src/platform/core/present.ts';
import { createModels } from '../../../src/platform/models/models.ts';
import { anyProvider, call, configFor, KEY, log, searchTool, server, useProvider, user } from './calls.ts';

useProvider();

const BEDROCK = { BEDROCK_REGION: 'eu-west-1', AWS_BEARER_TOKEN_BEDROCK: KEY };
const AZURE = { AZURE_OPENAI_API_KEY: KEY, AZURE_OPENAI_DEPLOYMENT: 'our-gpt' };

/** What a model is asked on the wire. The reply, which no protocol knows, is of no interest here. */
async function asked(model: string, given: Partial<ModelCall> = {}): Promise<Record<string, unknown>> {
  const { models, credentials } = anyProvider();
  const resolved = models.resolve({ model: 'auto', override: model, prompt: '' }, credentials);
  server.script((response) => void response.writeHead(400).end('{}'));
  await call({ resolved, credentials, ...given }, models).catch(() => {});
  return server.requests.at(-1)?.body ?? {};
}

// Guards: each provider hears it in its own words, and a model that was told nothing decides by itself.
// https://docs.anthropic.com/en/docs/build-with-claude/effort, https://platform.openai.com/docs/guides/reasoning
test.each([
  ['claude-opus-5', 'low', { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } }],
  ['claude-opus-5', undefined, { thinking: undefined, output_config: undefined }],
  ['gpt-6-sol', 'none', { reasoning: { effort: 'none' } }],
  ['gpt-6-sol', 'max', { reasoning: { effort: 'xhigh' } }],
  ['local-1', 'high', { reasoning_effort: 'high' }],
  ['local-1', undefined, { reasoning_effort: undefined }],
] as const)('%s is told the effort %s', async (model, effort, told) => {
  const body = await asked(model, { maxOutputTokens: 4_000, ...(effort && { effort }) });
  for (const [field, value] of Object.entries(told)) {
    if (value === undefined) expect(body).not.toHaveProperty(field);
    else expect(body).toMatchObject({ [field]: value });
  }
});

// Guards against: paying for more output than was held for the call, since what a model may think comes on top.
test.each([
  [4_000, { type: 'enabled', budget_tokens: 2_000 }],
  [1_000, undefined],
])('a limit of %i tokens holds with what is thought', async (maxOutputTokens, thinking) => {
  const body = await asked('claude-haiku-4-5', { maxOutputTokens, effort: 'high' });
  expect(body.max_tokens).toBe(maxOutputTokens);
  expect(body.thinking).toEqual(thinking);
});

// Guards: the same at Bedrock, whose fields are elsewhere; and a request that only has such a word in it stays as it is.
test('the limit holds wherever the fields are', () => {
  const thinking = { type: 'enabled', budget_tokens: 9_000 };
  const config = { inferenceConfig: { maxTokens: 13_000 }, additionalModelRequestFields: { thinking } };
  expect(JSON.parse(withinHold(JSON.stringify(config), 4_000))).toEqual({
    inferenceConfig: { maxTokens: 4_000 },
    additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 2_000 } },
  });
  const other = '{"contents":[{"functionCall":{"args":{"budget_tokens":9000}}}],  "max_tokens":1}';
  expect(withinHold(other, 4_000)).toBe(other);
});

const MARK = { type: 'ephemeral' };
const toolName = searchTool.name;
const turn = (...ids: string[]): ModelMessage[] => [
  { role: 'assistant', content: ids.map((toolCallId) => ({ type: 'tool-call', toolCallId, toolName, input: {} })) },
  {
    role: 'tool',
    content: ids.map((toolCallId) => ({
      type: 'tool-result',
      toolCallId,
      toolName,
      output: { type: 'text', value: 'found' },
    })),
  },
];

// Guards: an agent of many turns pays for what it repeats as for what is in a cache. Four marks are the most that is taken.
// https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching
test('Anthropic caches up to its marks', async () => {
  const messages = [user('Find it.'), ...turn('1'), ...turn('2'), ...turn('3')];
  const otherTool = { ...searchTool, name: 'other' };
  const body = await asked('claude-opus-5', { messages, tools: [searchTool, otherTool] });
  const marksOf = (parts: unknown) => [parts].flat().map((part) => fieldsOf(part).cache_control);
  expect(marksOf(body.tools)).toEqual([undefined, MARK]);
  expect(marksOf(body.system)).toEqual([MARK]);
  const marked = [body.messages].flat().map((message) => marksOf(fieldsOf(message).content).at(-1));
  expect(marked).toEqual([undefined, undefined, undefined, undefined, MARK, undefined, MARK]);
  expect(JSON.stringify(body).split('"cache_control"')).toHaveLength(5);
});

// Guards: OpenAI sends calls of one agent to where it has their beginning. Nobody else is told a field that it does not know.
// https://platform.openai.com/docs/guides/prompt-caching
test('OpenAI is told which calls begin alike', async () => {
  expect(await asked('gpt-6-sol', { cacheKey: 'abc' })).toMatchObject({ prompt_cache_key: 'abc' });
  for (const model of ['local-1', 'claude-opus-5'])
    expect(JSON.stringify(await asked(model, { cacheKey: 'abc' }))).not.toContain('abc');
});

const POINT = { cachePoint: { type: 'default' } };

// Guards: Claude and Nova read from Bedrock's cache, each where it takes a mark. Of any other model, and of what an account has
// of its own, Bedrock refuses the whole request for one: "You invoked an unsupported model or your request did not allow prompt
// caching", "#/toolConfig/tools/0: extraneous key [cachePoint] is not permitted".
// https://github.com/danny-avila/LibreChat/issues/13838, https://github.com/BerriAI/litellm/pull/39210
test.each([
  ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', [2, 4]],
  ['anthropic.claude-opus-5-v1', [2, 4]],
  ['bedrock/anthropic.claude-3-5-haiku-20241022-v1:0', [2, 4]],
  ['arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude-3-7-sonnet-20250219-v1:0', [2, 4]],
  ['us.amazon.nova-pro-v1:0', [0]],
  ['amazon.nova-2-lite-v1:0', [0]],
  ['anthropic.claude-3-haiku-20240307-v1:0', undefined],
  ['anthropic.claude-3-5-sonnet-20241022-v2:0', undefined],
  ['anthropic.claude-instant-v1', undefined],
  ['us.meta.llama4-scout-17b-instruct-v1:0', undefined],
  ['us.deepseek.r1-v1:0', undefined],
  ['arn:aws:bedrock:eu-west-1:1:custom-model/amazon.nova-micro-v1:0/abc', undefined],
  ['arn:aws:bedrock:eu-west-1:1:application-inference-profile/abc', undefined],
])('Bedrock caches up to its marks: %s', async (model, places) => {
  const messages = [user('Find it.'), ...turn('1'), ...turn('2')];
  const models = createModels(configFor({ BEDROCK_BASE_URL: server.baseUrl, ...BEDROCK }), { log });
  const credentials = models.credentials();
  const resolved = models.resolve({ model: 'auto', override: model, prompt: '' }, credentials);
  expect(resolved.provider).toBe('amazon-bedrock');
  server.script((response) => void response.writeHead(400).end('{}'));
  await call({ resolved, credentials, messages, tools: [searchTool] }, models).catch(() => {});
  const { text, body } = present(server.requests.at(-1));
  expect(JSON.stringify(body.toolConfig)).not.toContain('cachePoint');
  if (!places) return expect(text).not.toContain('cachePoint');
  expect([body.system].flat().at(-1)).toEqual(POINT);
  const marked = [body.messages]
    .flat()
    .map((message) => JSON.stringify(fieldsOf(message).content).includes('cachePoint'));
  expect(marked.flatMap((isMarked, at) => (isMarked ? at : []))).toEqual(places);
  expect(text.split('"cachePoint"')).toHaveLength(places.length + 2);
});

/** What Claude, or whoever it is, is asked at an address that a workspace names. */
async function askedAt(baseUrl: string, model: string, messages: ModelMessage[], more: { isRouter?: true } = {}) {
  const models = createModels(configFor({}), { log, guardedFetch: (_, init) => fetch(server.baseUrl, init) });
  const credentials = models.credentials({ 'openai-compatible': { baseUrl, model, apiKey: KEY, ...more } });
  const resolved = models.resolve({ model, prompt: '' }, credentials);
  server.script((response) => void response.writeHead(400).end('{}'));
  await call({ resolved, credentials, messages, tools: [searchTool] }, models).catch(() => {});
  return present(server.requests.at(-1));
}
const told = (role: string, text: string) => ({ role, content: [{ type: 'text', text, cache_control: MARK }] });

// Guards: Claude at OpenRouter reads from its cache. The mark stands in a part, as a request with one beside the parts of a
// tool's result is never answered. https://github.com/NousResearch/hermes-agent/pull/2391, https://github.com/earendil-works/pi/pull/6941
test.each([
  ['https://openrouter.ai/api/v1', 'anthropic/claude-sonnet-5', {}],
  ['https://eu.openrouter.ai/api/v1', '~anthropic/claude-sonnet-latest', {}],
  ['https://router.example/v1', 'anthropic/claude-sonnet-5', { isRouter: true }],
] as const)('OpenRouter passes marks on: %s, %s', async (baseUrl, model, more) => {
  const { body, text } = await askedAt(baseUrl, model, [user('Find it.'), ...turn('1'), ...turn('2', '3')], more);
  const result = (id: string, content: unknown) => ({ role: 'tool', tool_call_id: id, content });
  const marked = [{ type: 'text', text: 'found', cache_control: MARK }];
  expect(body.messages).toMatchObject([
    told('system', 'You are helpful.'),
    { role: 'user', content: 'Find it.' },
    { role: 'assistant' },
    result('1', marked),
    { role: 'assistant' },
    result('2', 'found'),
    result('3', marked),
  ]);
  expect(text.split('"cache_control"')).toHaveLength(4);
});

// Guards: nobody else is sent a mark, and an empty text has none, which Anthropic refuses.
test.each([
  ['https://openrouter.ai/api/v1', 'openai/gpt-6-sol', 'Find it.', 0],
  ['https://openrouter.ai.example/v1', 'anthropic/claude-sonnet-5', 'Find it.', 0],
  ['https://openrouter.ai/api/v1', 'anthropic/claude-sonnet-5', '', 1],
])('marks at %s, %s, with "%s"', async (baseUrl, model, words, count) => {
  const { text } = await askedAt(baseUrl, model, [user(words)]);
  expect(text.split('"cache_control"')).toHaveLength(count + 1);
});

// Guards against: "Unknown parameter: 'store'" of a version that is older than it. https://github.com/betalgo/openai/issues/675
test.each([
  [{}, true],
  [{ AZURE_OPENAI_API_VERSION: '2024-10-21' }, false],
])('Azure is told fields that it knows: %j', async (version, isTold) => {
  const models = createModels(configFor({ AZURE_OPENAI_BASE_URL: server.baseUrl, ...AZURE, ...version }), { log });
  const credentials = models.credentials();
  const resolved = models.resolve({ model: 'azure/our-gpt', prompt: '' }, credentials);
  server.script((response) => void response.writeHead(400).end('{}'));
  await call({ resolved, credentials, cacheKey: 'abc', effort: 'low' }, models).catch(() => {});
  const { body } = present(server.requests.at(-1));
  expect({ store: body.store, key: body.prompt_cache_key }).toEqual(
    isTold ? { store: false, key: 'abc' } : { store: undefined, key: undefined },
  );
  // The name of a deployment does not tell that its model thinks.
  expect(body).toMatchObject(isTold ? { reasoning: { effort: 'low' } } : { reasoning_effort: 'low' });
});
