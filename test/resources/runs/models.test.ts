import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { present } from '../../../src/platform/core/present.ts';
import {
  answer,
  cutOff,
  refuse,
  sse,
  startOpenAiServer,
  type OpenAiServer,
} from '../../support/fakes/openai-server.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { eventsOf, rowOf } from '../../support/fixtures/runs.ts';

let provider: OpenAiServer;
let service: TestService;
let acme: Tenant;
beforeAll(async () => {
  provider = await startOpenAiServer();
  const catalogue = join(mkdtempSync(join(tmpdir(), 'models-')), 'catalogue.json');
  writeFileSync(
    catalogue,
    JSON.stringify({
      models: [
        { id: 'thoughtless', provider: 'openai-compatible', efforts: [] },
        { id: 'two-speed', provider: 'openai-compatible', efforts: ['high', 'low'] },
      ],
    }),
  );
  service = await startTestService({
    env: {
      OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl,
      OPENAI_COMPATIBLE_MODEL: 'scripted',
      MODEL_CATALOGUE: catalogue,
    },
  });
  acme = await service.tenant('acc_acme');
  const custom = { prompt: 'Be brief.', description: '', allowed_tool_slugs: [] };
  for (const [slug, model] of [
    ['own', 'own-model'],
    ['strict', 'own-model'],
    ['thinker', 'auto'],
  ]) {
    expect((await acme.cp('POST', '/v1/agents', { slug, model, ...custom })).status).toBe(201);
  }
  await acme.cp('PATCH', '/v1/agents/strict/model', { resolver_enforce: true });
  await acme.cp('PATCH', '/v1/agents/thinker/model', { reasoning: true });
});
beforeEach(() => {
  provider.reset();
  provider.otherwise(answer('As you wish.'));
});
afterAll(async () => {
  await service?.close();
  await provider?.close();
});

const resolvedOf = async (runId: string) =>
  present((await eventsOf(acme, runId)).find(({ event_type }) => event_type === 'model_resolved')).payload;

describe('the model of a run', () => {
  const long = 'and so on '.repeat(700);
  const plain = { reasoning: false, enforce: false };
  // Guards: with override, enforcement and `auto`, the model that is called is the one that the event and the list
  // name.
  test.each([
    [
      'override',
      { agent: 'own', override: { model_override: 'other' } },
      { model: 'other', tier: 'standard', rule: 'override', ...plain },
    ],
    [
      'offline on request',
      { agent: 'own', override: { model_override: 'offline' } },
      { model: 'offline', tier: 'offline', rule: 'override', ...plain },
    ],
    ['the agent’s own', { agent: 'own' }, { model: 'own-model', tier: 'standard', rule: 'agent_default', ...plain }],
    [
      'enforced',
      { agent: 'strict', override: { model_override: 'other' } },
      { model: 'own-model', tier: 'standard', rule: 'agent_enforced', enforce: true, reasoning: false },
    ],
    [
      'auto, short',
      { agent: 'own', override: { model_override: 'auto' } },
      { model: 'scripted', tier: 'fast', rule: 'auto_short_prompt', ...plain },
    ],
    [
      'auto, long',
      { agent: 'own', prompt: long, override: { model_override: 'auto' } },
      { model: 'scripted', tier: 'deep', rule: 'auto_long_prompt', ...plain },
    ],
    [
      'auto with reasoning',
      { agent: 'thinker' },
      { model: 'scripted', tier: 'deep', rule: 'auto_reasoning', enforce: false, reasoning: true },
    ],
    [
      'of a provider that is not there',
      { agent: 'assistant' },
      { model: 'scripted', tier: 'standard', rule: 'agent_default_fallback', ...plain },
    ],
  ])('%s', async (_, body, resolved) => {
    const run = await acme.run({ prompt: 'Hello', ...body });
    expect(run.status).toBe('succeeded');
    expect(await resolvedOf(run.run_id)).toEqual(resolved);
    const { model, tier, rule, enforce, reasoning } = resolved;
    expect(await rowOf(acme, run.run_id)).toMatchObject({
      model,
      model_tier: tier,
      model_rule: rule,
      model_enforce: enforce,
      reasoning,
    });
    expect(provider.requests.map(({ body }) => body.model)).toEqual(model === 'offline' ? [] : [model]);
  });

  // Guards: the model of one's own agent, or that one set for a built-in one, is no suggestion.
  test('of an agent whose provider is not configured', async () => {
    await acme.cp('POST', '/v1/agents', { slug: 'claudes', description: 'd', prompt: 'p', model: 'claude-sonnet-4-5' });
    await acme.cp('PATCH', '/v1/agents/writer/model', { default_model: 'claude-haiku-4-5' });
    for (const agent of ['claudes', 'writer']) {
      const run = await acme.run({ agent, prompt: 'Hello' });
      const error = expect.stringMatching(/^model_not_configured: .*ANTHROPIC_API_KEY/);
      expect(run).toMatchObject({ status: 'failed', error });
    }
    expect(provider.requests).toHaveLength(0);
    await acme.cp('DELETE', '/v1/agents/claudes');
    await acme.cp('PATCH', '/v1/agents/writer/model', { default_model: null });
  });

  // Guards: an unavailable model is refused with what to do, not replaced, and nothing is called.
  test('of a provider that is not configured', async () => {
    const run = await acme.run({ agent: 'own', prompt: 'Hello', override: { model_override: 'claude-sonnet-4-5' } });
    expect(run).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/^model_not_configured: .*ANTHROPIC_API_KEY/),
    });
    expect(provider.requests).toHaveLength(0);
    const { body } = await acme.cp('GET', '/v1/runs/costs');
    const own = body.data.find(({ agent }: { agent: string }) => agent === 'own');
    expect(own.tiers).toContainEqual({
      tier: 'unknown',
      cost_usd: '0',
      saved_usd: '0',
      run_count: 1,
      models: [{ model: null, cost_usd: '0', saved_usd: '0', run_count: 1 }],
    });
  });

  // Guards: a model is asked for an effort that it takes, in every turn, and the run says once what it is asked instead.
  test.each([
    ['thoughtless', 'high', undefined, 'effort high is left out: the model takes none'],
    ['two-speed', 'medium', 'low', 'effort medium is not taken by the model: it is asked for low'],
    ['two-speed', 'max', 'high', 'effort max is not taken by the model: it is asked for high'],
    ['two-speed', 'high', 'high', undefined],
    ['scripted', 'max', 'xhigh', undefined],
  ])('%s, asked for effort %s', async (model, effort, sent, note) => {
    provider.script(cutOff('As you'));
    const run = await acme.run({ agent: 'own', prompt: 'Hello', override: { model_override: model, effort } });
    expect(run.status).toBe('succeeded');
    expect(provider.requests.map(({ body }) => body.reasoning_effort)).toEqual([sent, sent]);
    expect((await resolvedOf(run.run_id)).note).toBe(note);
  });

  // Guards: an unknown price is shown as unknown and never counts as free.
  test('without a price', async () => {
    const run = await acme.run({ agent: 'own', prompt: 'Hello' });
    const [iteration] = (await eventsOf(acme, run.run_id)).filter(
      ({ event_type }) => event_type === 'claude_iteration',
    );
    expect(iteration).toMatchObject({ cost_usd: null, payload: { priced: false, input_tokens: 12, output_tokens: 3 } });
    expect(Object.keys(iteration?.payload ?? {})).not.toContain('cache_read_tokens');
  });

  // Guards: what the provider had in its cache is told and costs less, in the event, the run and the sums.
  test('with a cache', async () => {
    const prices = join(mkdtempSync(join(tmpdir(), 'cached-')), 'prices.json');
    const price = { input_usd_per_mtok: 10, output_usd_per_mtok: 1, cache_read_usd_per_mtok: 1 };
    writeFileSync(prices, JSON.stringify({ scripted: price }));
    const env = { OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl, OPENAI_COMPATIBLE_MODEL: 'scripted' };
    const priced = await startTestService({ env: { ...env, MODEL_PRICES: prices } });
    try {
      const cached = await priced.tenant('acc_cached');
      provider.otherwise(answer('Yes.', { inputTokens: 100_000, outputTokens: 10, cachedTokens: 90_000 }));
      const run = await cached.run({ prompt: 'Hello', override: { model_override: 'scripted' } });
      const [iteration] = (await eventsOf(cached, run.run_id)).filter((each) => each.event_type === 'claude_iteration');
      expect(iteration).toMatchObject({
        cost_usd: '0.19001',
        payload: { input_tokens: 100_000, cache_read_tokens: 90_000, output_tokens: 10 },
      });
      const { body } = await cached.cp('GET', '/v1/cost/rollup');
      expect(body.meta).toMatchObject({ total_cost_usd: '0.19001', saved_usd: '0.81' });
      // What a gateway bills goes before the price, and nobody knows what it saved.
      const usage = { prompt_tokens: 100_000, completion_tokens: 10, prompt_tokens_details: { cached_tokens: 90_000 } };
      const choices = [{ index: 0, delta: { content: 'Yes.' }, finish_reason: 'stop' }];
      const told = { id: 'gen-1', created: 1, model: 'm', choices, usage: { ...usage, cost: 0.07 } };
      provider.otherwise(sse(`data: ${JSON.stringify(told)}\n\n`, 'data: [DONE]\n\n'));
      const billed = await cached.run({ prompt: 'Hello', override: { model_override: 'scripted' } });
      const event = (await eventsOf(cached, billed.run_id)).find((each) => each.event_type === 'claude_iteration');
      expect(event).toMatchObject({ cost_usd: '0.07', payload: { told_by: 'gateway', priced: true } });
      expect(event?.payload).not.toHaveProperty('saved_usd');
      expect(iteration?.payload).toMatchObject({ saved_usd: '0.81' });
      expect(iteration?.payload).not.toHaveProperty('told_by');
    } finally {
      await priced.close();
    }
  });
});

// Guards: a provider's refusal ends the run at once; its Retry-After is respected and shown in the timeline.
test('provider failures', async () => {
  provider.script(refuse(429, { message: 'slow down' }, { 'retry-after': '0' }), answer('Now.'));
  const run = await acme.run({ agent: 'own', prompt: 'Hello' });
  expect(run).toMatchObject({ status: 'succeeded', output: 'Now.' });
  const failed = (await eventsOf(acme, run.run_id)).filter(({ event_type }) => event_type === 'claude_request');
  expect(failed).toMatchObject([{ payload: { code: 'model_rate_limited', retry_after_ms: 0, attempt: 1 } }]);

  provider.reset();
  provider.script(refuse(401, { message: 'bad key sk-verysecretkey' }));
  const refused = await acme.run({ agent: 'own', prompt: 'Hello' });
  expect(refused).toMatchObject({ status: 'failed', error: expect.stringMatching(/^model_auth_failed: /) });
  expect(refused.error).not.toContain('verysecret');
  expect(provider.requests).toHaveLength(1);
});

describe('without an agent the classifier picks one', () => {
  // Guards: the chosen agent is sensible and recorded, and the event has the scores.
  test.each([
    ['Fix the bug in this Python function and refactor the code of the API', ['coder']],
    ['Write a bedtime story for children about a shy dragon', ['storyteller', 'writer']],
    ['Research the facts about lithium mining and give me the sources', ['researcher']],
    ['qzx vvk wpt', ['assistant']],
  ])('%s', async (prompt, sensible) => {
    const run = await acme.run({ prompt });
    expect(run.status).toBe('succeeded');
    expect(sensible).toContain(run.agent);
    expect(await rowOf(acme, run.run_id)).toMatchObject({ agent: run.agent });
    const { classifier } = await resolvedOf(run.run_id);
    expect(classifier.agent).toBe(run.agent);
    const scores = classifier.scores.map(({ score }: { score: number }) => score);
    expect(scores).toHaveLength(5);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    if (run.agent !== 'assistant') expect(classifier.scores[0].agent).toBe(run.agent);
  });

  // Guards: a workspace's own agents can be chosen, and another workspace's cannot.
  test('among its own agents', async () => {
    const description = 'Identifies mushrooms and toadstools from a description and tells whether they are poisonous.';
    await acme.cp('POST', '/v1/agents', {
      slug: 'mycologist',
      description,
      model: 'auto',
      prompt: 'You know mushrooms.',
    });
    const prompt = 'Is this mushroom poisonous, and what toadstool is it from the description?';
    expect((await acme.run({ prompt })).agent).toBe('mycologist');
    const beta = await service.tenant('acc_beta');
    expect((await beta.run({ prompt })).agent).not.toBe('mycologist');
  });
});
