/**
 * What gateways say that a call cost, in the shapes in which they do.
 * https://openrouter.ai/docs/use-cases/usage-accounting, https://docs.litellm.ai/docs/proxy/response_headers
 */
import { describe, expect, test } from '@jest/globals';
import { createModels } from '../../../src/platform/models/models.ts';
import type { TokenUsage } from '../../../src/platform/models/types.ts';
import { sse, type Reply } from '../../support/fakes/openai-server.ts';
import { call, configFor, KEY, log, models, server, useProvider } from './calls.ts';

useProvider();

const TOKENS = { prompt_tokens: 9171, completion_tokens: 113, total_tokens: 9284 };

/** OpenRouter sends the usage with the last event, whose one choice is empty. */
const streamed = (usage: Record<string, unknown>, headers: Record<string, string> = {}): Reply => {
  const event = (fields: Record<string, unknown>) => {
    const about = { id: 'gen-1', provider: 'OpenAI', model: 'openai/gpt-5-nano', object: 'chat.completion.chunk' };
    return `data: ${JSON.stringify({ ...about, created: 1_786_000_000, ...fields })}\n\n`;
  };
  const choice = (delta: unknown, end: string | null) => [
    { index: 0, delta, finish_reason: end, native_finish_reason: end, logprobs: null },
  ];
  const reply = sse(
    ': OPENROUTER PROCESSING\n\n',
    event({ choices: choice({ role: 'assistant', content: 'ok' }, null) }),
    event({ choices: choice({ role: 'assistant', content: '' }, 'stop') }),
    event({ choices: choice({ role: 'assistant', content: '' }, null), usage: { ...TOKENS, ...usage } }),
    'data: [DONE]\n\n',
  );
  return (response, request) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    reply(response, request);
  };
};

/** LiteLLM before a server that does not stream, and other proxies, answer with all of it at once. */
const whole =
  (headers: Record<string, string>): Reply =>
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers });
    const choices = [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }];
    response.end(
      JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage: TOKENS }),
    );
  };

const LITELLM = {
  'x-litellm-call-id': 'b980db26-9512-45cc-b1da-c511a363b83f',
  'x-litellm-version': '1.91.0',
  'x-litellm-key-spend': '2.85e-05',
};
const byHeader = (cost: string) => ({ ...LITELLM, 'x-litellm-response-cost': cost });

async function priceOf(reply: Reply): Promise<string | null> {
  server.script(reply);
  const { usage } = await call();
  return models.price({ model: 'local-1', provider: 'openai-compatible' }, usage, {
    ofServer: { input_usd_per_mtok: 1, output_usd_per_mtok: 1 },
  });
}
const BY_TOKENS = '0.009284';

// Guards: what a gateway bills is what is booked, and no price of ours.
describe('a call costs what its gateway bills', () => {
  const details = { upstream_inference_cost: null, upstream_inference_prompt_cost: 0.00045 };
  test.each([
    ['OpenRouter', streamed({ cost: 0.00049875, is_byok: false, cost_details: details }), '0.00049875'],
    ['a free model of OpenRouter', streamed({ cost: 0, is_byok: false, cost_details: details }), '0'],
    ['LiteLLM with the cost in its stream', streamed({ cost: 5.1e-7 }, byHeader('0.0')), '0.00000051'],
    ['LiteLLM with a header', whole(byHeader('0.0009884999999999998')), '0.0009885'],
    ['LiteLLM with a tiny cost', whole(byHeader('2.85e-05')), '0.0000285'],
  ])('%s', async (_, reply, usd) => expect(await priceOf(reply)).toBe(usd));

  // Guards against: calls that were free, because OpenRouter bills no more than its fee where the key is the account's own.
  // https://github.com/tailcallhq/forgecode/issues/1641
  test.each([
    ['no fee', { cost: 0, cost_details: { upstream_inference_cost: 0.0360795 } }, '0.0360795'],
    ['a fee', { cost: 0.0018, cost_details: { upstream_inference_cost: 0.0360795 } }, '0.0378795'],
    ['nothing said of the provider', { cost: 0, cost_details: { upstream_inference_cost: null } }, BY_TOKENS],
  ])('with a key of its own and %s', async (_, usage, usd) =>
    expect(await priceOf(streamed({ is_byok: true, ...usage }))).toBe(usd),
  );

  // Guards against: the cost of one's own key counted twice, where it is told of every call.
  test('with a key of the gateway and what the provider bills', async () =>
    expect(
      await priceOf(streamed({ cost: 0.95, is_byok: false, cost_details: { upstream_inference_cost: 0.9 } })),
    ).toBe('0.95'));
});

// Guards against: budgets that grow, calls that are free, and records that no column holds, by what is no amount.
test.each(['-1', '-0.00001', '1e25', '10000', '1e400', '"0.1"', 'null', 'true', '{}', '[0.1]'])(
  'a cost of %s is not believed',
  async (cost) => {
    const reply = streamed({ cost: '<cost>' });
    server.script((response, request) => {
      const write = response.write.bind(response);
      response.write = (text: string) => write(text.replace('"<cost>"', cost));
      reply(response, request);
    });
    const { usage } = await call();
    expect(usage).toEqual({ inputTokens: TOKENS.prompt_tokens, outputTokens: TOKENS.completion_tokens });
  },
);
test.each(['-1', '1e25', 'NaN', 'Infinity', 'None', '', 'free'])('a header of "%s" is not believed', async (cost) =>
  expect(await priceOf(whole(byHeader(cost)))).toBe(BY_TOKENS),
);

// Guards against: streamed calls through LiteLLM that cost nothing, since it sends its headers before it knows.
// https://github.com/BerriAI/litellm/issues/12689
test('a header of a stream that says 0 says nothing', async () =>
  expect(await priceOf(streamed({}, byHeader('0.0')))).toBe(BY_TOKENS));

// Guards: a provider whose prices are known does not set them by the way.
test('of other providers nothing of it is read', async () => {
  const asked = createModels(configFor({ OPENAI_BASE_URL: server.baseUrl, OPENAI_API_KEY: KEY }), { log });
  const usage = { input_tokens: 26, output_tokens: 3, total_tokens: 29, cost: 0.5 };
  const events = [
    { type: 'response.created', response: { id: 'r', created_at: 1, model: 'm' } },
    { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'i' } },
    { type: 'response.output_text.delta', item_id: 'i', output_index: 0, content_index: 0, delta: 'ok' },
    { type: 'response.output_item.done', output_index: 0, item: { type: 'message', id: 'i' } },
    { type: 'response.completed', response: { id: 'r', created_at: 1, usage } },
  ];
  const reply = sse(...events.map((event) => `data: ${JSON.stringify(event)}\n\n`));
  server.script((response, request) => {
    response.setHeader('x-litellm-response-cost', '0.5');
    reply(response, request);
  });
  const told: TokenUsage = (await call({}, asked)).usage;
  expect(told).toEqual({ inputTokens: 26, outputTokens: 3 });
});
