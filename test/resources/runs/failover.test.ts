/** Runs whose provider is out: another model of their agent answers, and everybody can see that it did. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  answer,
  namedEvent,
  refuse,
  sse,
  startOpenAiServer,
  type OpenAiServer,
  type Reply,
} from '../../support/fakes/openai-server.ts';
import { eventsOf, rowOf } from '../../support/fixtures/runs.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let provider: OpenAiServer;
let service: TestService;
let acme: Tenant;
beforeAll(async () => {
  provider = await startOpenAiServer();
  service = await startTestService({
    env: {
      OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl,
      OPENAI_COMPATIBLE_MODEL: 'scripted',
      ANTHROPIC_API_KEY: 'a-key-of-nobody',
      ANTHROPIC_BASE_URL: provider.baseUrl,
      MODEL_FALLBACKS: 'scripted',
    },
  });
  acme = await service.tenant('acc_acme', 'internal');
  const agent = { model: 'scripted', prompt: 'Be brief.', allowed_tool_slugs: [] };
  for (const [slug, more] of [
    ['falling', { fallback_models: ['claude-opus-5', 'claude-haiku-4-5'] }],
    ['alone', {}],
    ['chooser', { model: 'auto' }],
  ] as const)
    expect((await acme.cp('POST', '/v1/agents', { slug, ...agent, ...more })).status).toBe(201);
});
beforeEach(() => provider.reset());
afterAll(async () => {
  await service?.close();
  await provider?.close();
});

/** As Anthropic answers. */
const claude = (text: string): Reply =>
  sse(
    ...[
      {
        type: 'message_start',
        message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 9 } },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } },
      { type: 'message_stop' },
    ].map(namedEvent),
  );
const tomorrow = refuse(429, { message: 'come back tomorrow' }, { 'retry-after': '86400' });
const down = refuse(503, { message: 'overloaded' });

const asked = () => provider.requests.map(({ body }) => body.model);
const run = (agent: string, override?: object) => acme.run({ agent, prompt: 'Hello.', ...(override && { override }) });
const failoversOf = async (runId: string) =>
  (await eventsOf(acme, runId))
    .filter(({ event_type }) => event_type === 'model_failover')
    .map(({ payload }) => payload);

// Guards: a provider that takes no more calls for long is left at once, and the run names whoever answered, at its price.
test('another provider answers while the limit of the first one lasts', async () => {
  provider.script(tomorrow, claude('Hello yourself.'));
  const ended = await run('falling');
  expect(ended).toMatchObject({ status: 'succeeded', output: 'Hello yourself.' });
  expect(asked()).toEqual(['scripted', 'claude-opus-5']);
  expect(await failoversOf(ended.run_id)).toEqual([
    {
      turn: 1,
      from: 'scripted',
      to: 'claude-opus-5',
      code: 'model_rate_limited',
      error: expect.stringContaining('MODEL_MAX_RETRY_AFTER'),
    },
  ]);
  const types = (await eventsOf(acme, ended.run_id)).map(({ event_type }) => event_type);
  expect(types.slice(-4)).toEqual(['claude_request', 'model_failover', 'claude_iteration', 'run_completed']);
  expect(await rowOf(acme, ended.run_id)).toMatchObject({
    model: 'claude-opus-5',
    model_rule: 'fallback',
    is_priced: true,
    total_cost_usd: expect.stringMatching(/^0\.0*[1-9]/),
  });
});

// Guards: each model has all of its attempts, and they are asked in their order, each once.
test('the next but one answers where the next is out as well', async () => {
  provider.script(tomorrow, tomorrow, down, claude('Third.'));
  const ended = await run('falling');
  expect(ended).toMatchObject({ status: 'succeeded', output: 'Third.' });
  expect(asked()).toEqual(['scripted', 'claude-opus-5', 'claude-haiku-4-5', 'claude-haiku-4-5']);
});

// Guards: a run does not go round in circles: when all are out, it fails as the last one said.
test('fails where none is left', async () => {
  provider.otherwise(tomorrow);
  const ended = await run('falling');
  expect(ended).toMatchObject({ status: 'failed', error: expect.stringContaining('claude-haiku-4-5') });
  expect(asked()).toEqual(['scripted', 'claude-opus-5', 'claude-haiku-4-5']);
});

// Guards: the model that was asked for answers, or nobody; nor is another asked for what would end the same there.
test.each([
  ['a run that names its model', 'falling', { model_override: 'scripted' }, tomorrow],
  ['an agent of a workspace without fallbacks', 'alone', undefined, tomorrow],
  ['a refusal', 'falling', undefined, refuse(400, { message: 'no such thing' })],
])('%s is not answered by another', async (_, agent, override, reply) => {
  provider.otherwise(reply);
  expect(await run(agent, override)).toMatchObject({ status: 'failed' });
  expect(asked()).toEqual(['scripted']);
});

// Guards: the deployment's own fallbacks count where it is left to it which model answers.
test('a model that was left to the service is answered for by what the deployment names', async () => {
  provider.script(tomorrow, answer('At your service.'));
  expect(await run('chooser')).toMatchObject({ status: 'succeeded', output: 'At your service.' });
  expect(asked()).toEqual(['claude-haiku-4-5', 'scripted']);
});

// Guards: a provider that answers nobody is not asked by each run anew, which health tells.
test('a provider that is out is found out once', async () => {
  provider.script(down, down, down, down, down, claude('One.'), claude('Two.'));
  const health = async () =>
    (await acme.cp('GET', '/v1/system/health')).body.parts.find(({ name }: { name: string }) => name === 'models');
  expect(await health()).toMatchObject({ status: 'ok' });
  expect(await run('falling')).toMatchObject({ output: 'One.' });
  expect(await health()).toMatchObject({ status: 'degraded', detail: expect.stringContaining('openai-compatible') });
  const second = await run('falling');
  expect(second).toMatchObject({ output: 'Two.' });
  expect(asked()).toEqual([...Array(5).fill('scripted'), 'claude-opus-5', 'claude-opus-5']);
  expect(await failoversOf(second.run_id)).toEqual([expect.objectContaining({ code: 'model_unavailable' })]);
});
