/** The managed model router, against a server that speaks the provisioning protocol of OpenRouter. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { eq } from 'drizzle-orm';
import { ConfigError } from '../../../src/platform/core/config.ts';
import { present } from '../../../src/platform/core/present.ts';
import { createModelRouter } from '../../../src/resources/billing/model-router/router.ts';
import { routerKeys } from '../../../src/resources/billing/table.ts';
import { workspaces } from '../../../src/resources/workspaces/table.ts';
import { confirmed } from '../../support/service/otp.ts';
import { startProviderServer, type ProviderServer } from '../../support/fakes/provider-server.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import {
  deliver,
  eventOf,
  LIVE_BILLING,
  startStripeServer,
  type StripeServer,
} from '../../support/fakes/stripe-server.ts';
import { ANSWER_SETTINGS } from '../../support/service/answer-limits.ts';

let stripe: StripeServer;
let router: ProviderServer;
let service: TestService;
/** Limit by hash: the keys that work. */
let keys: Map<string, number>;
let count = 0;

beforeAll(async () => {
  [stripe, router] = await Promise.all([startStripeServer(), startProviderServer()]);
  service = await startTestService({
    worker: false,
    env: {
      ...LIVE_BILLING(stripe),
      MODEL_ROUTER_URL: `${router.url}/api/v1/`,
      MODEL_ROUTER_PROVISIONING_KEY: 'provisioning-key',
    },
  });
});
afterAll(async () => {
  await service?.close();
  await Promise.all([stripe?.close(), router?.close()]);
});

beforeEach(() => {
  keys = new Map();
  router.requests.length = 0;
  router.answer(works);
});

const works: Parameters<ProviderServer['answer']>[0] = ({ method, path, headers, body }) => {
  if (headers.authorization !== 'Bearer provisioning-key') return { status: 401, body: { error: { message: 'No.' } } };
  const hash = path.split('/')[4];
  const { limit } = (body ? JSON.parse(body) : {}) as { limit?: number };
  if (method === 'POST') {
    count += 1;
    keys.set(`hash-${count}`, present(limit));
    return { status: 201, body: { key: `sk-or-${count}`, data: { hash: `hash-${count}`, limit } } };
  }
  if (!keys.has(present(hash))) return { status: 404, body: { error: { message: 'No such key' } } };
  if (method === 'DELETE') keys.delete(present(hash));
  else keys.set(present(hash), present(limit));
  return { status: 200, body: { data: { hash } } };
};
const fails = () => ({ status: 503, body: { error: { message: 'Later.' } } });

const set = (tenant: Tenant, enabled: boolean) => tenant.cp('POST', '/v1/billing/addons/model-router', { enabled });
const addons = async (tenant: Tenant) => (await tenant.cp('GET', '/v1/billing/addons')).body;
async function buy(tenant: Tenant, amount_usd_cents: number): Promise<void> {
  const { body } = await tenant.cp('POST', '/v1/billing/topup', { amount_usd_cents });
  const paid = eventOf('checkout.session.completed', { id: body.checkout_session_id, payment_status: 'paid' });
  expect((await deliver(service.controlPlaneUrl, paid)).status).toBe(200);
}
async function buyer(workspaceId: string, amount = 1_000): Promise<Tenant> {
  const tenant = await service.tenant(workspaceId, 'free');
  if (amount > 0) await buy(tenant, amount);
  return tenant;
}
const OFF = { managed: false, key_hash: null, key_limit_usd: null };
const credentialsOf = ({ caller }: Tenant) => service.services.modelCredentials(caller.customerId);

// Guards: the managed key needs a minimum of bought credit, and a workspace that is ready.
test('wants credit and a ready workspace', async () => {
  const tenant = await buyer('acc_poor', 500);
  expect(await set(tenant, true)).toMatchObject({ status: 402, body: { detail: 'insufficient_credit' } });
  await buy(tenant, 500);
  await service.runtime.db.orm.update(workspaces).set({ status: 'failed' }).where(eq(workspaces.customerId, 'poor'));
  expect(await set(tenant, true)).toMatchObject({
    status: 409,
    body: { detail: 'addon_requires_ready_deployment' },
  });
  expect(router.requests).toEqual([]);
  await service.runtime.db.orm.update(workspaces).set({ status: 'ready' }).where(eq(workspaces.customerId, 'poor'));
  expect(await set(tenant, true)).toMatchObject({ status: 200, body: { model_router: { managed: true } } });
});

// Guards: the minima of both uses, which workspaces are created by.
test('the minimum top-up', async () => {
  const { caller } = await buyer('acc_minimum', 2_999);
  const has = (use: 'managed_infra' | 'models_only') =>
    service.services.billing.hasMinimumTopup(caller.customerId, use);
  expect([await has('models_only'), await has('managed_infra')]).toEqual([true, false]);
});

// Guards: the managed key is capped at the balance, made once despite repeats and races, used by the workspace's runs
// and readable by nobody.
test('mints one key', async () => {
  const tenant = await buyer('acc_router', 2_550);
  const answers = await Promise.all([1, 2, 3, 4].map(() => set(tenant, true)));
  const on = { managed: true, key_hash: expect.stringMatching(/^hash-/), key_limit_usd: '25.5' };
  for (const { status, body } of answers) {
    expect({ status, body }).toEqual({
      status: 200,
      body: { deployment_status: 'ready', model_router: on, model_vendor: { mode: 'byo', kind: null } },
    });
  }
  expect([...keys.values()]).toEqual([25.5]);
  expect(await credentialsOf(tenant)).toMatchObject({
    'openai-compatible': {
      baseUrl: `${router.url}/api/v1`,
      apiKey: expect.stringMatching(/^sk-or-/),
      model: 'openrouter/auto',
    },
  });
  const [row] = await service.runtime.db.orm.select().from(routerKeys).where(eq(routerKeys.customerId, 'router'));
  expect(JSON.stringify(row)).not.toContain('sk-or-');

  expect((await set(tenant, false)).body.model_router).toEqual(OFF);
  expect(keys.size).toBe(0);
  expect(await credentialsOf(tenant)).toMatchObject({ 'openai-compatible': undefined });
});

// Guards: a workspace's own key goes before the managed one, and the answer names which one is used.
test('leaves a key of its own alone', async () => {
  const tenant = await buyer('acc_own');
  await set(tenant, true);
  await confirmed(tenant, 'PUT', '/v1/integrations/openrouter/credentials/api_key', { value: 'sk-or-own' });
  expect((await credentialsOf(tenant))['openai-compatible']?.apiKey).toBe('sk-or-own');
  expect((await addons(tenant)).model_vendor).toEqual({ mode: 'byo', kind: 'openrouter' });
});

// Guards: the key's limit follows the wallet; an update that the router missed is sent with the next one.
test('the limit grows with the credit', async () => {
  const tenant = await buyer('acc_grows');
  await set(tenant, true);
  await buy(tenant, 500);
  expect([...keys.values()]).toEqual([15]);
  router.answer(fails);
  await buy(tenant, 500);
  expect((await addons(tenant)).model_router.key_limit_usd).toBe('20');
  expect([...keys.values()]).toEqual([15]);
  router.answer(works);
  await deliver(service.controlPlaneUrl, eventOf('invoice.paid', { id: 'in_1' }));
  expect([...keys.values()]).toEqual([20]);
});

// Guards: a failure of the router changes nothing, and a key that it lost can be given up.
test('the router fails', async () => {
  const tenant = await buyer('acc_down');
  router.answer(fails);
  expect(await set(tenant, true)).toMatchObject({ status: 502, body: { detail: 'provider 503 model_router: Later.' } });
  expect((await addons(tenant)).model_router).toEqual(OFF);
  router.answer(() => ({ status: 200, body: { unexpected: true } }));
  expect(await set(tenant, true)).toMatchObject({ status: 502 });
  router.answer(() => 'reset');
  expect(await set(tenant, true)).toMatchObject({
    status: 502,
    body: { detail: expect.stringContaining('provider 0') },
  });
  router.answer(works);
  await set(tenant, true);
  router.answer(fails);
  expect((await set(tenant, false)).status).toBe(502);
  expect((await addons(tenant)).model_router.managed).toBe(true);
  router.answer(works);
  keys.clear();
  expect((await set(tenant, false)).body.model_router).toEqual(OFF);
});

// Guards: an incomplete configuration of the router is reported at the start.
test('wants both settings', () => {
  expect(() =>
    createModelRouter({
      ...ANSWER_SETTINGS,
      MODEL_ROUTER_URL: 'https://r.example',
      MODEL_ROUTER_PROVISIONING_KEY: undefined,
    }),
  ).toThrow(ConfigError);
  expect(() =>
    createModelRouter({ ...ANSWER_SETTINGS, MODEL_ROUTER_URL: undefined, MODEL_ROUTER_PROVISIONING_KEY: 'key' }),
  ).toThrow(ConfigError);
});
