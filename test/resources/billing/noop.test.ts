/** Billing as it is by default: everything can be asked, and nothing is charged. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CAPPED_RESOURCES } from '../../../src/resources/workspaces/model.ts';
import { call, sessionFor, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { deliver, eventOf } from '../../support/fakes/stripe-server.ts';

let service: TestService;
let tenant: Tenant;

beforeAll(async () => {
  service = await startTestService({ worker: false });
  tenant = await service.tenant('acc_noop', 'starter_hosted');
});
afterAll(() => service?.close());

const post = (path: string, body?: unknown) => tenant.cp('POST', `/v1/billing/${path}`, body);
const get = async (path: string) => (await tenant.cp('GET', `/v1/billing/${path}`)).body;

// Guards: the facts of the catalogue, to the number.
test('catalog', async () => {
  const catalog = await get('catalog');
  expect(catalog).toMatchObject({
    version: 1,
    mode: 'internal_noop',
    modifiers: {
      infra: { managed_usd_micros_per_minute: 1_667 },
      model_vendor: { byo_only: true },
      model_router: { managed_cost_markup: 1.2 },
    },
    topup: {
      min_initial_usd_cents_with_managed_infra: 3_000,
      min_initial_usd_cents_models_only: 1_000,
      min_usd_cents: 500,
      max_usd_cents: 100_000,
      presets_usd_cents: [1_000, 2_500, 5_000, 10_000],
    },
  });
  const none = {
    monthly_idr_cents: null,
    monthly_usd_cents: null,
    billing_plan_id: null,
    can_provision_managed: false,
  };
  expect(catalog.tiers).toMatchObject([
    { key: 'free', ...none, contact_only: false },
    { key: 'starter', billing_plan_id: 'plan_starter', can_provision_managed: true, contact_only: false },
    { key: 'pro', billing_plan_id: 'plan_pro', can_provision_managed: true, contact_only: false },
    { key: 'scale', ...none, contact_only: true },
  ]);
  for (const { caps } of catalog.tiers) expect(caps).toHaveLength(CAPPED_RESOURCES.length);
  expect(catalog.tiers[0].caps).toEqual([
    '100 runs a day',
    '2 API keys',
    '3 agents of your own',
    '5 custom tools',
    '10 custom skills',
    '1,000 memory entries',
    '10 webhook endpoints',
    '10 output destinations',
    '100 scheduled jobs',
    '100 heartbeats',
  ]);
  expect(catalog.tiers[2].caps).toContain('unlimited runs a day');
  expect(catalog.tiers[0]).not.toHaveProperty('billing_plan_live');
  expect(catalog).not.toHaveProperty('error');
});

// Guards: the summary says the tier and charges nothing.
test('summary', async () => {
  expect(await get('summary')).toEqual({
    mode: 'internal_noop',
    current_tier: 'starter',
    note: 'Billing is off: nothing is charged.',
    lines: [],
    current_period: {
      start: expect.stringMatching(/-01T00:00:00.000Z$/),
      end: expect.stringMatching(/-01T00:00:00.000Z$/),
    },
    subscription_idr: 0,
    addons_idr: 0,
    managed_model_vendor_idr: 0,
    total_idr: 0,
  });
});

// Guards: clients learn the least and the greatest top-up.
test('top-up options', async () => {
  expect((await tenant.cp('GET', '/v1/billing/topup/options')).body).toEqual({
    mode: 'internal_noop',
    presets_usd_cents: [1_000, 2_500, 5_000, 10_000],
    min_usd_cents: 500,
    max_usd_cents: 100_000,
    fx_usd_idr: '16500',
    min_initial_usd_cents: { managed_infra: 3_000, models_only: 1_000 },
  });
});

// Guards: without a billing provider both commands do nothing, and a wrong body is still refused.
test('subscribe and top-up do nothing', async () => {
  const noop = { status: 200, body: { ok: true, noop: true, message: expect.any(String) } };
  expect(await post('subscribe', { billing_plan_id: 'plan_of_any_name' })).toMatchObject(noop);
  expect(await post('topup', { amount_usd_cents: 500 })).toMatchObject(noop);
  expect(await post('topup', { amount_usd_cents: 100_000, currency: 'USD', return_path: '/a?b#c' })).toMatchObject(
    noop,
  );
  expect(await get('wallet')).toEqual({ balance_usd_micros: 0, data: [], meta: { limit: 50, offset: 0, total: 0 } });
});

// Guards: bad input is the 400 that the specification names.
test.each([
  ['subscribe', undefined, 'billing_plan_id required'],
  ['subscribe', {}, 'billing_plan_id required'],
  ['subscribe', { billing_plan_id: ' ' }, 'billing_plan_id required'],
  ['subscribe', { billing_plan_id: 7 }, 'billing_plan_id required'],
  ['subscribe', { billing_plan_id: 'a\u0000b' }, 'billing_plan_id: must not contain a NUL character'],
  ['subscribe', { billing_plan_id: 'plan_pro', currency: 'EUR' }, 'currency: must be IDR or USD'],
  ['topup', { amount_usd_cents: 499 }, 'invalid_amount'],
  ['topup', { amount_usd_cents: 100_001 }, 'invalid_amount'],
  ['topup', { amount_usd_cents: -1_000 }, 'invalid_amount'],
  ['topup', { amount_usd_cents: 1_000.5 }, 'invalid_amount'],
  ['topup', { amount_usd_cents: 1e308 }, 'invalid_amount'],
  ['topup', { amount_usd_cents: '1000' }, 'amount_usd_cents required, a whole number'],
  ['topup', {}, 'amount_usd_cents required, a whole number'],
  ...['//evil.example', '/\\evil.example', 'https://evil.example', 'evil', '', '/a b', '/\t/evil.example'].map(
    (path): [string, unknown, string] => [
      'topup',
      { amount_usd_cents: 1_000, return_path: path },
      'return_path must be a path that begins with one /',
    ],
  ),
  ['addons/model-router', {}, 'enabled required, true or false'],
  ['addons/model-router', { enabled: 'yes' }, 'enabled required, true or false'],
])('%s %j is %s', async (path, body, detail) => {
  expect(await post(path, body)).toMatchObject({ status: 400, body: { detail } });
});

// Guards: a page beyond its bounds.
test.each(['limit=0', 'limit=501', 'offset=-1', 'limit=x'])('wallet?%s is refused', async (query) => {
  expect((await tenant.cp('GET', `/v1/billing/wallet?${query}`)).status).toBe(400);
});

// Guards: a person who has no workspace yet reads what is sold, and is told what is missing.
test('without a deployment', async () => {
  const caller = { ...tenant.caller, workspaceId: 'acc_nowhere', customerId: 'nowhere' };
  const ask = (method: string, path: string, body?: unknown) =>
    call(`${service.controlPlaneUrl}/v1/billing/${path}`, method, { 'x-service-session': sessionFor(caller) }, body);
  expect((await ask('GET', 'summary')).body).toMatchObject({ current_tier: 'free' });
  expect((await ask('GET', 'addons')).body).toMatchObject({ deployment_status: null });
  const missing = { status: 404, body: { detail: 'no_deployment_for_customer' } };
  expect(await ask('POST', 'subscribe', { billing_plan_id: 'plan_pro' })).toMatchObject(missing);
  expect(await ask('POST', 'addons/model-router', { enabled: true })).toMatchObject(missing);
});

// Guards: a webhook is refused where no secret is configured with which to verify it.
test('events are refused', async () => {
  const event = eventOf('checkout.session.completed', { id: 'cs_1', payment_status: 'paid' });
  expect(await deliver(service.controlPlaneUrl, event)).toEqual({ status: 400, body: { detail: 'invalid_signature' } });
});

// Guards: without a provider, the add-on makes one local key, limited by the wallet, shown only by its hash, and
// deleted again.
test('model router', async () => {
  const off = { managed: false, key_hash: null, key_limit_usd: null };
  expect(await get('addons')).toEqual({
    deployment_status: 'ready',
    model_router: off,
    model_vendor: { mode: 'byo', kind: null },
  });
  const answers = await Promise.all([1, 2, 3].map(() => post('addons/model-router', { enabled: true })));
  const { model_router: on } = await get('addons');
  expect(on).toEqual({ managed: true, key_hash: expect.stringMatching(/^[0-9a-f]{64}$/), key_limit_usd: '0' });
  for (const { status, body } of answers)
    expect({ status, router: body.model_router }).toEqual({ status: 200, router: on });
  for (const _ of [1, 2]) {
    expect((await post('addons/model-router', { enabled: false })).body.model_router).toEqual(off);
  }
});
