/** What runs leave to the caches of providers: each request begins with the bytes of the one before. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { present } from '../../../src/platform/core/present.ts';
import { blocksOf, costOf, costWithoutCache, type BilledTokens } from '../../support/fakes/anthropic-bills.ts';
import { createBilledAnthropic } from '../../support/fakes/billed-replies.ts';
import {
  answer,
  callTools,
  sse,
  startOpenAiServer,
  type OpenAiServer,
  type Reply,
} from '../../support/fakes/openai-server.ts';
import { dispatch, eventsOf } from '../../support/fixtures/runs.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

const ANTHROPIC = 'claude-haiku-4-5';
const AGENTS = { claude: ANTHROPIC, chat: 'scripted', responses: 'gpt-6-sol' };
type Agent = keyof typeof AGENTS;
const NAMES: readonly Agent[] = ['claude', 'chat', 'responses'];

let provider: OpenAiServer;
let service: TestService;
let acme: Tenant;
beforeAll(async () => {
  provider = await startOpenAiServer();
  service = await startTestService({
    worker: false,
    env: {
      ANTHROPIC_API_KEY: 'sk-ant-test',
      ANTHROPIC_BASE_URL: provider.baseUrl,
      OPENAI_API_KEY: 'sk-test',
      OPENAI_BASE_URL: provider.baseUrl,
      OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl,
      OPENAI_COMPATIBLE_MODEL: 'scripted',
      RUN_MAX_TURNS: '30',
    },
  });
  acme = await service.tenant('acc_acme');
  const skill = { slug: 'rules', name: 'Rules', description: 'The rules of the house', agents: Object.keys(AGENTS) };
  const made = await acme.cp('POST', '/v1/skills', { ...skill, prompt_addendum: 'Lay it from the left. '.repeat(88) });
  expect(made.status).toBe(201);
  for (const [slug, model] of Object.entries(AGENTS)) {
    const prompt = 'You lay tables, and you are careful with glass. '.repeat(150);
    const agent = { slug, model, prompt, allowed_tool_slugs: ['calculator', 'current_time'] };
    expect((await acme.cp('POST', '/v1/agents', agent)).status).toBe(201);
  }
});
beforeEach(() => provider.reset());
afterAll(async () => {
  await service?.close();
  await provider?.close();
});

const events = (list: readonly { type: string; [field: string]: unknown }[]): Reply =>
  sse(...list.map((each) => `event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`));
const skill = { slug: 'rules' };

/** A call of a tool, or an answer, as each protocol has it. */
const REPLIES: Record<Agent, { call: (turn: number) => Reply; end: Reply }> = {
  chat: {
    call: (turn) => callTools({ id: `c${turn}`, name: 'load_skill', arguments: skill }),
    end: answer('Laid.'),
  },
  responses: {
    call: (turn) => {
      const about = { type: 'function_call', id: `fc_${turn}`, call_id: `c${turn}`, name: 'load_skill' };
      const args = JSON.stringify(skill);
      return events([
        { type: 'response.created', response: { id: `r${turn}`, created_at: 1, model: 'm' } },
        { type: 'response.output_item.added', output_index: 0, item: { ...about, arguments: '' } },
        {
          type: 'response.function_call_arguments.delta',
          item_id: about.id,
          output_index: 0,
          delta: args,
        },
        {
          type: 'response.output_item.done',
          output_index: 0,
          item: { ...about, arguments: args, status: 'completed' },
        },
        {
          type: 'response.completed',
          response: { id: `r${turn}`, created_at: 1, usage: { input_tokens: 9, output_tokens: 9 } },
        },
      ]);
    },
    end: events([
      { type: 'response.created', response: { id: 'r', created_at: 1, model: 'm' } },
      { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'i' } },
      {
        type: 'response.output_text.delta',
        item_id: 'i',
        output_index: 0,
        content_index: 0,
        delta: 'Laid.',
      },
      { type: 'response.output_item.done', output_index: 0, item: { type: 'message', id: 'i' } },
      {
        type: 'response.completed',
        response: { id: 'r', created_at: 1, usage: { input_tokens: 9, output_tokens: 9 } },
      },
    ]),
  },
  claude: {
    call: (turn) => anthropic.call(`toolu_${turn}`, 'load_skill', skill),
    end: (response, request) => anthropic.end('Laid.')(response, request),
  },
};

let anthropic = createBilledAnthropic(ANTHROPIC);
beforeEach(() => {
  anthropic = createBilledAnthropic(ANTHROPIC);
});

const isList = (value: unknown): value is unknown[] => Array.isArray(value);

/** What is told before the latest message, piece by piece, in bytes. Marks are no part of what is told. */
function told(body: Record<string, unknown>): string[] {
  const chat = isList(body.messages) ? body.messages : [];
  const parts = body.system ? blocksOf(body).map(({ block }) => block) : [...(isList(body.input) ? body.input : chat)];
  const first = body.system ? [] : [body.tools, body.instructions];
  return [...first, ...parts].map((each) => JSON.stringify(each ?? null));
}

// Guards: tools, system text and earlier messages are the same bytes from turn to turn, also where another worker goes on,
// since a provider reads what it has seen from its cache only as far as they are.
describe('the requests of a run begin alike', () => {
  test.each(NAMES)('%s', async (agent) => {
    const { call, end } = REPLIES[agent];
    let isGone = false;
    const leaving = await service.startWorker();
    provider.script(call(1), call(2), () => (isGone = true), call(3), call(4), end);
    const runId = await dispatch(acme, { agent, prompt: 'Lay the table.' });
    await provider.received(3);
    expect(isGone).toBe(true);
    await leaving.close();
    const next = await service.startWorker();
    try {
      expect(await acme.waitForRun(runId)).toMatchObject({ status: 'succeeded', output: 'Laid.' });
    } finally {
      await next.close();
    }
    const requests = [...provider.requests];
    expect(requests).toHaveLength(6);
    for (const { body, text } of requests) expect(JSON.stringify(body)).toBe(text);
    const all = requests.map(({ body }) => told(body));
    expect(requests[3]?.text).toBe(requests[2]?.text);
    const latest = present(all.at(-1));
    const lengths = all.map(({ length }) => length);
    expect(lengths).toEqual(lengths.toSorted((a, b) => a - b));
    expect(new Set(lengths).size).toBe(5);
    all.forEach((each) => expect(latest.slice(0, each.length)).toEqual(each));
    const rest = ({ messages: _, input: __, system: ___, tools: ____, ...more }: Record<string, unknown>) => more;
    for (const { body } of requests) expect(rest(body)).toEqual(rest(present(requests[0]).body));
  });
});

// Guards: a long run costs a quarter of what it would without a cache, and what it costs and what was saved is booked to
// the last decimal.
test('a run of 20 turns at a provider that bills its cache', async () => {
  const { call, end } = REPLIES.claude;
  provider.script(...Array.from({ length: 19 }, (_, turn) => call(turn)), end);
  const worker = await service.startWorker();
  const { billed } = anthropic;
  try {
    const { run_id: runId, status } = await acme.run({ agent: 'claude', prompt: 'Lay the table.' });
    expect([status, billed.length]).toEqual(['succeeded', 20]);
    const sum = (of: (tokens: BilledTokens) => number) => billed.reduce((usd, tokens) => usd + of(tokens), 0);
    const [cost, uncached] = [sum(costOf), sum(costWithoutCache)];
    expect(cost / uncached).toBeLessThan(0.25);
    const run = (await acme.cp('GET', `/v1/runs/${runId}/summary`)).body;
    expect([Number(run.cost_usd), Number(run.saved_usd)]).toEqual([
      expect.closeTo(cost, 7),
      expect.closeTo(uncached - cost, 7),
    ]);
    const turns = (await eventsOf(acme, runId)).filter(({ event_type }) => event_type === 'claude_iteration');
    // The first turn fills the cache, which costs more than it saves.
    expect(turns[0]?.payload).not.toHaveProperty('saved_usd');
    const second = present(billed[1]);
    expect(Number(turns[1]?.payload.saved_usd)).toBeCloseTo(costWithoutCache(second) - costOf(second), 8);
    const { body: costs } = await acme.cp('GET', '/v1/runs/costs');
    const [ofAgent] = costs.data.filter(({ agent }: { agent: string }) => agent === 'claude');
    const [tier] = ofAgent.tiers;
    for (const saved of [ofAgent, tier, tier.models[0]]) expect(Number(saved.saved_usd)).toBeGreaterThan(0);
    const { body: rollup } = await acme.cp('GET', '/v1/cost/rollup?group_by=agent');
    expect([rollup.meta.saved_usd, rollup.data.find(({ key }: { key: string }) => key === 'claude').saved_usd]).toEqual(
      [costs.meta.saved_usd, ofAgent.saved_usd],
    );
  } finally {
    await worker.close();
  }
});
