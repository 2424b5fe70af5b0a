/** What runs and tools get of what a workspace gave: its own before the deployment's, the newest, and only its own. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { MODEL_INTEGRATIONS } from '../../../src/platform/models/catalogue.ts';
import { integrations } from '../../../src/resources/integrations/catalogue.ts';
import { confirmed } from '../../support/service/otp.ts';
import { answer, refuse, sse, startOpenAiServer, type OpenAiServer } from '../../support/fakes/openai-server.ts';
import { startProviderServer, type ProviderServer } from '../../support/fakes/provider-server.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let service: TestService;
let models: OpenAiServer;
let checks: ProviderServer;
let tenant: Tenant;
let count = 0;

beforeAll(async () => {
  [models, checks] = await Promise.all([startOpenAiServer(), startProviderServer()]);
  service = await startTestService({
    env: {
      OPENAI_BASE_URL: models.baseUrl,
      EGRESS_ALLOWLIST: new URL(models.baseUrl).host,
      INTEGRATION_BASE_URLS: ['openai', 'anthropic', 'github', 'notion', 'openrouter']
        .map((slug) => `${slug}=${checks.url}`)
        .concat(['mistral', 'google', 'google-vertex'].map((slug) => `${slug}=${models.baseUrl}`))
        .join(','),
    },
  });
});
afterAll(async () => {
  await service?.close();
  await Promise.all([models?.close(), checks?.close()]);
});
beforeEach(async () => {
  models.reset();
  tenant = await service.tenant(`acc_models_${++count}`);
});

const set = async (path: string, value: string, of = tenant) => {
  const { status, body } = await confirmed(of, 'PUT', `/v1/integrations/${path}`, { value });
  if (status !== 200) throw new Error(`not set: ${status} ${JSON.stringify(body)}`);
};
const ask = (of = tenant) => of.run({ agent: 'assistant', prompt: 'What is a key?' });

/** The keys that models were called with. */
const keys = () => models.requests.map(({ headers, body }) => [headers.authorization, body.model]);

/** An answer in the protocol of OpenAI's own models. */
const respond = (text: string) => {
  const event = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;
  const item = { type: 'message', id: 'msg_1' };
  return sse(
    event({ type: 'response.created', response: { id: 'resp_1', created_at: 1, model: 'gpt' } }),
    event({ type: 'response.output_item.added', output_index: 0, item }),
    event({ type: 'response.output_text.delta', item_id: item.id, delta: text }),
    event({ type: 'response.output_item.done', output_index: 0, item }),
    event({ type: 'response.completed', response: { usage: { input_tokens: 3, output_tokens: 2 } } }),
  );
};

// Guards: a provider whose workspace credential nobody can give, or an integration whose key no run is called with.
test('has an integration for each that a provider names', () => {
  const forModels = [...integrations.values()].filter(({ extras }) => extras?.includes('models'));
  expect(forModels.map(({ slug }) => slug).toSorted()).toEqual(MODEL_INTEGRATIONS.toSorted());
});

describe('a run', () => {
  // Guards: the workspace's own key is what the provider is called with; a new one counts at once, and without one the
  // run is on what the deployment has, which is nothing here.
  test('calls with the key of its workspace', async () => {
    models.otherwise(respond('A secret.'));
    await set('openai/credentials/api_key', 'sk-first');
    expect(await ask()).toMatchObject({ status: 'succeeded', output: 'A secret.' });
    await set('openai/credentials/api_key', 'sk-second');
    expect(await ask()).toMatchObject({ status: 'succeeded' });
    expect(keys().map(([key]) => key)).toEqual(['Bearer sk-first', 'Bearer sk-second']);

    expect((await confirmed(tenant, 'DELETE', '/v1/integrations/openai/credentials/api_key')).status).toBe(204);
    const { output } = await ask();
    expect(output).toMatch(/offline/i);
    expect(keys()).toHaveLength(2);
  });

  // Guards: nobody calls with the key of somebody else.
  test('calls with no other key', async () => {
    models.otherwise(respond('A secret.'));
    await set('openai/credentials/api_key', 'sk-of-one');
    const other = await service.tenant(`acc_other_${count}`);
    expect((await ask(other)).output).toMatch(/offline/i);
    expect(keys()).toEqual([]);
  });

  // Guards: only the shared scope is what runs use.
  test('does not use another scope', async () => {
    const body = { value: 'sk-personal', scope: 'personal' };
    expect((await confirmed(tenant, 'PUT', '/v1/integrations/openai/credentials/api_key', body)).status).toBe(200);
    expect((await ask()).output).toMatch(/offline/i);
    expect(keys()).toEqual([]);
  });

  // Guards: a server of the workspace's own, with and without a key; its address is enough.
  test('calls the server of its workspace', async () => {
    models.otherwise(answer('From my own server.'));
    await set('openai-compatible/secrets/server.base_url', models.baseUrl);
    expect(await ask()).toMatchObject({ status: 'succeeded', output: 'From my own server.' });
    await set('openai-compatible/secrets/models.default', 'llama-of-mine');
    await set('openai-compatible/credentials/api_key', 'own-key');
    expect(await ask()).toMatchObject({ status: 'succeeded' });
    expect(keys()).toEqual([
      [undefined, 'default'],
      ['Bearer own-key', 'llama-of-mine'],
    ]);
  });

  // Guards: a budget cannot be kept without a price: the message says where it is given, what is none is refused there, and
  // with `0` the same run is made, at no cost and not as one of unknown cost.
  test('keeps a budget on a server whose price is given', async () => {
    models.otherwise(answer('From my own server.'));
    await set('openai-compatible/secrets/server.base_url', models.baseUrl);
    const limited = { prompt: 'Hello', agent: 'assistant', override: { cost_budget_usd: '1' } };
    const refused = await tenant.run(limited);
    expect(refused).toMatchObject({ status: 'failed', error: expect.stringContaining('models.price: 0 if it costs') });
    expect(keys()).toEqual([]);

    const path = '/v1/integrations/openai-compatible/secrets/models.price';
    const wrong = await tenant.cp('PUT', path, { value: 'free' });
    expect(wrong).toMatchObject({ status: 400, body: { detail: expect.stringContaining('expects 0 for a model') } });
    await set('openai-compatible/secrets/models.price', '0');
    const run = await tenant.run(limited);
    expect(run).toMatchObject({ status: 'succeeded', output: 'From my own server.' });
    const { body } = await tenant.cp('GET', `/v1/runs/${run.run_id}/summary`);
    expect(body).toMatchObject({ cost_usd: '0', is_priced: true });
  });

  // Guards: each provider is called with what the workspace gave, on the model that it names.
  test.each([
    ['mistral', {}, 'another-model', '/v1/chat/completions', { authorization: 'Bearer own-key' }],
    [
      'google',
      {},
      'another-model',
      '/v1/models/another-model:streamGenerateContent?alt=sse',
      { 'x-goog-api-key': 'own-key' },
    ],
    [
      'google-vertex',
      {},
      'another-model',
      '/v1/models/another-model:streamGenerateContent?alt=sse',
      { 'x-goog-api-key': 'own-key' },
    ],
    [
      'amazon-bedrock',
      { address: true },
      'another-model',
      '/v1/model/another-model/converse-stream',
      { authorization: 'Bearer own-key' },
    ],
    ['azure-openai', { address: true }, 'another-model', '/v1/responses', { 'api-key': 'own-key' }],
    [
      'azure-openai',
      { address: true, version: '2024-10-21' },
      'another-model',
      '/v1/deployments/another-model/chat/completions?api-version=2024-10-21',
      { 'api-key': 'own-key' },
    ],
  ])(
    'calls %s %j',
    async (slug, { address = false, version = '' }: { address?: boolean; version?: string }, model, path, headers) => {
      models.otherwise(refuse(400, { message: 'asked as told' }));
      if (address) await set(`${slug}/secrets/server.base_url`, models.baseUrl);
      if (version) await set(`${slug}/secrets/server.api_version`, version);
      await set(`${slug}/credentials/api_key`, 'own-key');
      await set(`${slug}/secrets/models.default`, model);
      expect(await ask()).toMatchObject({ status: 'failed', error: expect.stringContaining('asked as told') });
      expect(models.requests.at(-1)?.path).toBe(path);
      expect(models.requests.at(-1)?.headers).toMatchObject(headers);
    },
  );
});

describe('a tool', () => {
  // Guards: a tool gets the token of its own workspace, by the name of the integration, and of no other.
  test('gets the token that it names', async () => {
    const { integrationCredential } = service.services;
    const { customerId } = tenant.caller;
    await set('github/credentials/token', 'ghp_own');
    expect(await integrationCredential(customerId, 'github')).toEqual({
      token: 'ghp_own',
      origins: [checks.url],
      words: 'the address that the operator set',
    });
    expect(await integrationCredential(customerId, 'gitlab')).toBeUndefined();
    expect(await integrationCredential(customerId, '__proto__')).toBeUndefined();
    const other = await service.tenant(`acc_tools_${count}`);
    expect(await integrationCredential(other.caller.customerId, 'github')).toBeUndefined();
  });
});

describe('MCP servers', () => {
  // Guards: they are the workspace's, and the bearer is the token of the same integration.
  test('are those that the workspace named', async () => {
    const { mcpServersOf } = service.services;
    const { customerId } = tenant.caller;
    expect(await mcpServersOf(customerId)).toEqual([]);
    await set('notion/secrets/mcp.url', 'https://mcp.example.com/notion');
    await set('github/secrets/mcp.url', 'https://mcp.example.com/github');
    await set('github/credentials/token', 'ghp_own');
    expect(await mcpServersOf(customerId)).toEqual([
      { name: 'github', url: 'https://mcp.example.com/github', bearer: 'ghp_own', given: expect.any(String) },
      { name: 'notion', url: 'https://mcp.example.com/notion', given: expect.any(String) },
    ]);
    const other = await service.tenant(`acc_mcp_${count}`);
    expect(await mcpServersOf(other.caller.customerId)).toEqual([]);
  });
});

// Guards: a value belongs to its row: copied to another workspace, by whoever can write to the database, it does not open.
test('a sealed value of another row does not open', async () => {
  const { db } = service.runtime;
  const thief = await service.tenant(`acc_thief_${count}`);
  await set('github/credentials/token', 'ghp_own');
  await db.rows(
    `insert into integration_credentials (customer_id, slug, kind, scope, token_id, sealed)
    select '${thief.caller.customerId}', slug, kind, scope, gen_random_uuid(), sealed
    from integration_credentials where customer_id = '${tenant.caller.customerId}'` as never,
  );
  await expect(service.services.integrationCredential(thief.caller.customerId, 'github')).rejects.toThrow();
});
