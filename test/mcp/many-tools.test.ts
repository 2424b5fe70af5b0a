/** An agent with more tools than the provider of its model takes in a request: it works with those that fit, and says so. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { fieldsOf } from '../../src/platform/core/record.ts';
import { wireName } from '../../src/platform/models/wire-name.ts';
import { startScriptedServer, tool, type ScriptedServer } from '../platform/mcp/scripted-server.ts';
import { sse, startOpenAiServer, type OpenAiServer } from '../support/fakes/openai-server.ts';
import { eventsOf } from '../support/fixtures/runs.ts';
import { startTestService, type Tenant, type TestService } from '../support/service/service.ts';

const MOST = 128;
const OWN = ['calculator', 'current_time'];
const OF_SERVER = Array.from({ length: 140 }, (_, i) => `mcp.shop.t${i}`);
const FITTING = [...OF_SERVER.slice(0, MOST - OWN.length), ...OWN];
const BEYOND = OF_SERVER.slice(MOST - OWN.length);

/** https://platform.openai.com/docs/api-reference/responses-streaming */
const stream = (...events: object[]) =>
  sse(
    ...[
      { type: 'response.created', response: { id: 'r', created_at: 1, model: 'm' } },
      ...events,
      {
        type: 'response.completed',
        response: { id: 'r', created_at: 1, usage: { input_tokens: 9, output_tokens: 5 } },
      },
    ].map((event) => `data: ${JSON.stringify(event)}\n\n`),
  );
const call = (name: string) => {
  const item = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name, arguments: '{}' };
  return stream(
    { type: 'response.output_item.added', output_index: 0, item: { ...item, arguments: '' } },
    { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 0, delta: '{}' },
    { type: 'response.output_item.done', output_index: 0, item: { ...item, status: 'completed' } },
  );
};
const say = (delta: string) =>
  stream(
    { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'i' } },
    { type: 'response.output_text.delta', item_id: 'i', output_index: 0, content_index: 0, delta },
    { type: 'response.output_item.done', output_index: 0, item: { type: 'message', id: 'i' } },
  );

let provider: OpenAiServer;
let shop: ScriptedServer;
let service: TestService;
let tenant: Tenant;
beforeAll(async () => {
  [provider, shop] = await Promise.all([
    startOpenAiServer(),
    startScriptedServer(OF_SERVER.map((slug) => tool(slug.replace('mcp.shop.', '')))),
  ]);
  service = await startTestService({
    env: {
      OPENAI_API_KEY: 'sk-test',
      OPENAI_BASE_URL: provider.baseUrl,
      MCP_SERVERS: JSON.stringify({ shop: { url: shop.url } }),
    },
  });
  tenant = await service.tenant('acc_acme');
  await tenant.cp('POST', '/v1/agents', {
    slug: 'shopper',
    model: 'gpt-6-sol',
    prompt: 'You shop.',
    allowed_tool_slugs: [...OF_SERVER, ...OWN],
  });
});
afterAll(async () => {
  await service?.close();
  await Promise.all([provider?.close(), shop?.close()]);
});

// Guards against: a run that OpenAI refuses ("array too long. Expected an array with maximum length 128"), in any of its turns.
test('offers as many tools as the provider takes, its own first, and says which are withheld', async () => {
  const beyond = 'mcp.shop.t139';
  provider.script(call(wireName(beyond)), say('Bought.'));
  const run = await tenant.run({ agent: 'shopper', prompt: 'Buy salt.' });
  expect(run).toMatchObject({ status: 'succeeded', output: 'Bought.' });
  const offered = provider.requests.map(({ body }) => body.tools?.map((each) => fieldsOf(each).name));
  expect(offered).toEqual([FITTING.map(wireName), FITTING.map(wireName)]);
  expect(JSON.stringify(provider.requests[1]?.body.input)).toContain('takes 128 tools in a request');
  expect(shop.calls).toEqual([]);

  const context = (await eventsOf(tenant, run.run_id)).find(({ event_type: type }) => type === 'context_loaded');
  const why = 'the provider of the model takes 128 tools in a request, and this one is beyond';
  expect(context?.payload).toMatchObject({
    tools: FITTING,
    tools_withheld: BEYOND,
    withheld_because: Object.fromEntries(BEYOND.map((slug) => [slug, why])),
  });
});

// Guards: a model that takes them all is offered them all.
test('offers all of them elsewhere', async () => {
  const run = await tenant.run({ agent: 'shopper', prompt: 'Hello', override: { model_override: 'offline' } });
  const context = (await eventsOf(tenant, run.run_id)).find(({ event_type: type }) => type === 'context_loaded');
  expect(context?.payload.tools).toEqual([...OF_SERVER, ...OWN]);
  expect(context?.payload).not.toHaveProperty('withheld_because');
});
