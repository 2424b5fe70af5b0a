/** Subscriptions in live mode, against a provider that remembers. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eq } from 'drizzle-orm';
import { ConfigError } from '../../../src/platform/core/config.ts';
import { itemAt, present } from '../../../src/platform/core/present.ts';
import { createBilling } from '../../../src/resources/billing/service/settings.ts';
import type { Plan } from '../../../src/resources/workspaces/model.ts';
import { workspaces } from '../../../src/resources/workspaces/table.ts';
import { call, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import {
  deliver,
  eventOf,
  LIVE_BILLING,
  startStripeServer,
  type StripeServer,
} from '../../support/fakes/stripe-server.ts';

let stripe: StripeServer;
let service: TestService;

beforeAll(async () => {
  stripe = await startStripeServer();
  service = await startTestService({
    worker: false,
    env: { ...LIVE_BILLING(stripe), BILLING_RETURN_URL: 'https://app.example/billing' },
  });
});
afterAll(async () => {
  await service?.close();
  await stripe?.close();
});

const subscribe = (tenant: Tenant, planId: string, more: Record<string, unknown> = {}, headers = {}) =>
  tenant.cp('POST', '/v1/billing/subscribe', { billing_plan_id: planId, ...more }, headers);

async function rowOf({ caller }: Tenant) {
  const row = itemAt(
    await service.runtime.db.orm
      .select({ plan: workspaces.plan, config: workspaces.config })
      .from(workspaces)
      .where(eq(workspaces.customerId, caller.customerId)),
    0,
  );
  return row;
}
const subscriptionsOf = ({ caller }: Tenant) =>
  stripe
    .created('subscription')
    .filter(({ metadata }) => (metadata as { customer_id: string }).customer_id === caller.customerId);
const tell = async (type: string, object: Record<string, unknown>, more = {}) =>
  expect((await deliver(service.controlPlaneUrl, eventOf(type, object, more))).status).toBe(200);
const subscriptionEvent = (id: unknown, planId: string, status = 'active') => ({
  id,
  object: 'subscription',
  status,
  items: { data: [{ price: { id: 'price_1', product: planId } }] },
});
/** @param isGranted the operator gave it the plan */
async function subscribed(workspaceId: string, plan: Plan = 'free', { isGranted = true } = {}) {
  const tenant = await service.tenant(workspaceId, plan);
  if (!isGranted) {
    const { customerId } = tenant.caller;
    await service.runtime.db.orm
      .update(workspaces)
      .set({ grantedPlan: null })
      .where(eq(workspaces.customerId, customerId));
  }
  const { body } = await subscribe(tenant, 'plan_starter');
  expect(body).toMatchObject({ ok: true, change: 'created' });
  return { tenant, id: body.subscription.id as string };
}

// Guards: a workspace has one customer and one subscription, both recorded; switching the plan changes that
// subscription, and the caps follow.
test('subscribes and switches', async () => {
  const { tenant, id } = await subscribed('acc_switch');
  const [customer] = stripe.created('customer');
  expect(customer).toMatchObject({ email: 'owner@switch.example', 'metadata[workspace_id]': 'acc_switch' });
  expect(await rowOf(tenant)).toEqual({
    plan: 'starter_byo',
    config: { billing_customer_id: present(customer).id, billing_subscription_id: id, billing_plan_id: 'plan_starter' },
  });
  expect((await subscribe(tenant, 'plan_pro')).body).toMatchObject({
    ok: true,
    change: 'updated',
    plan_id: 'plan_pro',
    subscription: { id, collection_method: 'send_invoice', items: { data: [{ price: { id: 'price_plan_pro_idr' } }] } },
  });
  expect(await rowOf(tenant)).toMatchObject({ plan: 'pro_byo', config: { billing_plan_id: 'plan_pro' } });
  expect(subscriptionsOf(tenant)).toHaveLength(1);
  expect((await tenant.cp('GET', '/v1/billing/summary')).body).toMatchObject({
    mode: 'live',
    current_tier: 'unknown',
    current_plan_id: 'plan_pro',
    total_idr: 0,
    lines: [],
  });
});

// Guards: two requests at once, and one that broke off before it was recorded, leave one subscription.
test('leaves one subscription', async () => {
  const tenant = await service.tenant('acc_race', 'free');
  const answers = await Promise.all(
    ['plan_starter', 'plan_pro', 'plan_starter'].map((plan) => subscribe(tenant, plan)),
  );
  expect(answers.map(({ body }) => body.change).sort()).toEqual(['created', 'updated', 'updated']);
  expect(subscriptionsOf(tenant)).toHaveLength(1);

  const { billing_customer_id } = present((await rowOf(tenant)).config);
  await service.runtime.db.orm
    .update(workspaces)
    .set({ config: { billing_customer_id } })
    .where(eq(workspaces.customerId, 'race'));
  expect((await subscribe(tenant, 'plan_pro')).body.change).toBe('updated');
  expect(subscriptionsOf(tenant)).toHaveLength(1);
  expect(stripe.created('customer').filter((one) => one['metadata[workspace_id]'] === 'acc_race')).toHaveLength(1);
});

// Guards: dollars need a payment method first: the hosted page, and the same call again.
test('asks for a payment method', async () => {
  const tenant = await service.tenant('acc_card', 'free');
  const first = await subscribe(tenant, 'plan_starter', { currency: 'USD' });
  expect(first).toMatchObject({
    status: 200,
    body: {
      ok: false,
      payment_method_required: true,
      checkout_url: expect.stringMatching(/^https:\/\/pay\.example\//),
    },
  });
  expect(stripe.created('session').at(-1)).toMatchObject({ mode: 'setup', success_url: 'https://app.example/billing' });
  expect(await rowOf(tenant)).toMatchObject({ plan: 'free', config: { billing_customer_id: expect.any(String) } });
  const payer = present((await rowOf(tenant)).config).billing_customer_id as string;
  present(stripe.things.get(payer)).payment_methods = 1;
  expect((await subscribe(tenant, 'plan_starter', { currency: 'USD' })).body).toMatchObject({
    ok: true,
    change: 'created',
    subscription: { items: { data: [{ price: { currency: 'usd' } }] } },
  });
});

// Guards: the country decides the currency, unless the body names one.
test.each([
  [{}, undefined, 'pages'],
  [{ 'cf-ipcountry': 'id' }, undefined, 'pages'],
  [{ 'cf-ipcountry': 'SG' }, undefined, 'no USD price'],
  [{ 'x-country-code': 'DE' }, undefined, 'no USD price'],
  [{ 'cf-ipcountry': 'SG' }, 'IDR', 'pages'],
  [{ 'cf-ipcountry': 'ID' }, 'USD', 'no USD price'],
])('from %j with %j', async (headers, currency, expected) => {
  const tenant = await service.tenant(`acc_${JSON.stringify(headers)}${currency}`, 'free');
  const { status, body } = await subscribe(tenant, 'plan_rupiah_only', { currency }, headers);
  if (expected === 'pages') expect({ status, ok: body.ok }).toEqual({ status: 200, ok: true });
  else
    expect({ status, body }).toEqual({
      status: 409,
      body: { detail: 'plan plan_rupiah_only has no active USD price' },
    });
});

// Guards: plans that are not sold are refused, including names that would lead to another address of the provider.
test.each(['plan_nowhere', 'plan_retired', '../customers', '..', 'plan%2Fx', '__proto__'])(
  '%s is not found',
  async (planId) => {
    const tenant = await service.tenant(`acc_unknown_${encodeURIComponent(planId)}_x`, 'free');
    expect(await subscribe(tenant, planId)).toMatchObject({
      status: 404,
      body: { detail: `plan ${planId} not found` },
    });
  },
);

// Guards: each failure of the provider has the words of the specification and leaves nothing half done.
test('passes failures on', async () => {
  const tenant = await service.tenant('acc_fails', 'free');
  const refusal = { type: 'invalid_request_error', code: 'account_closed', message: 'No.' };
  stripe.answerNext({ status: 403, body: { error: refusal } });
  expect(await subscribe(tenant, 'plan_pro')).toMatchObject({
    status: 500,
    body: { detail: 'could_not_resolve_billing_customer_id' },
  });
  expect((await rowOf(tenant)).config).toBeNull();
  await subscribe(tenant, 'plan_nowhere');
  stripe.answerNext({ status: 403, body: { error: refusal } });
  expect(await subscribe(tenant, 'plan_pro')).toMatchObject({
    status: 502,
    body: { detail: 'provider 403 account_closed: No.' },
  });
  expect(subscriptionsOf(tenant)).toEqual([]);
  // The lease is free again.
  expect((await subscribe(tenant, 'plan_pro')).body).toMatchObject({ ok: true });
});

// Guards: an archived workspace buys nothing.
test('an archived workspace is refused', async () => {
  const tenant = await service.tenant('acc_gone', 'free');
  await service.runtime.db.orm
    .update(workspaces)
    .set({ status: 'archived', archivedAt: new Date() })
    .where(eq(workspaces.customerId, 'gone'));
  expect(await subscribe(tenant, 'plan_pro')).toMatchObject({ status: 403, body: { detail: 'workspace_archived' } });
});

// Guards: changes that begin at the provider change the caps; a hosted workspace stays hosted, and the end of a
// subscription means the free plan.
test('follows the provider', async () => {
  const { tenant, id } = await subscribed('acc_follow', 'starter_hosted', { isGranted: false });
  await tell('customer.subscription.updated', subscriptionEvent(id, 'plan_pro'), { created: 2_000_000_000 });
  expect(await rowOf(tenant)).toMatchObject({ plan: 'pro_hosted', config: { billing_plan_id: 'plan_pro' } });
  // An older event that comes later.
  await tell('customer.subscription.updated', subscriptionEvent(id, 'plan_starter'), { created: 1_900_000_000 });
  expect((await rowOf(tenant)).plan).toBe('pro_hosted');
  await tell('customer.subscription.updated', subscriptionEvent(id, 'plan_pro', 'unpaid'), { created: 2_000_000_001 });
  expect(await rowOf(tenant)).toMatchObject({ plan: 'free', config: { billing_subscription_id: id } });
  await tell('customer.subscription.updated', subscriptionEvent(id, 'plan_of_others'), { created: 2_000_000_002 });
  expect((await rowOf(tenant)).plan).toBe('free');
  await tell('customer.subscription.updated', subscriptionEvent(id, 'plan_pro'), { created: 2_000_000_003 });
  expect((await rowOf(tenant)).plan).toBe('pro_byo');
  await tell('customer.subscription.deleted', subscriptionEvent(id, 'plan_pro'), { created: 2_000_000_004 });
  expect(await rowOf(tenant)).toEqual({ plan: 'free', config: { billing_customer_id: expect.any(String) } });
});

// Guards: a workspace with an agreed plan keeps it, and somebody else's subscription changes nothing.
test('leaves other plans alone', async () => {
  const { tenant, id } = await subscribed('acc_scale', 'scale');
  await tell('customer.subscription.updated', subscriptionEvent(id, 'plan_starter'));
  expect((await rowOf(tenant)).plan).toBe('scale');
  const { tenant: other } = await subscribed('acc_other');
  await tell('customer.subscription.deleted', subscriptionEvent('sub_of_nobody', 'plan_starter'));
  expect((await rowOf(other)).plan).toBe('starter_byo');
});

// Guards: where the provider cannot be reached, the catalogue says so.
test('the catalogue without the provider', async () => {
  const own = await startTestService({
    worker: false,
    env: { ...LIVE_BILLING({ url: 'http://127.0.0.1:9' }), STRIPE_TIMEOUT: '500ms' },
  });
  try {
    const tenant = await own.tenant('acc_dark', 'free');
    const { status, body } = await tenant.cp('GET', '/v1/billing/catalog');
    expect(status).toBe(200);
    expect(body.error).toMatch(/^provider 0 \w+: /);
    const unpriced = { monthly_usd_cents: null, monthly_idr_cents: null, contact_only: true, billing_plan_live: false };
    expect(body.tiers).toMatchObject([{ contact_only: false }, unpriced, unpriced, unpriced]);
    expect(await subscribe(tenant, 'plan_pro')).toMatchObject({ status: 500 });
    expect(await tenant.cp('POST', '/v1/billing/topup', { amount_usd_cents: 500 })).toMatchObject({ status: 502 });
  } finally {
    await own.close();
  }
});

// Guards: the provider's prices replace those of the built-in list.
test('the catalogue with the provider', async () => {
  const { body } = await call(`${service.controlPlaneUrl}/v1/billing/catalog`, 'GET', {
    'x-service-session': (await service.tenant('acc_prices')).session,
  });
  expect(body.tiers[1]).toMatchObject({
    monthly_usd_cents: 1_900,
    monthly_idr_cents: 10_000_000,
    billing_plan_live: true,
  });
});

// Guards: live billing without what it needs does not start.
test.each(['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET'])('does not start without %s', (name) => {
  const config = { ...service.runtime.config, [name]: undefined };
  expect(() => createBilling(config)).toThrow(new ConfigError(`${name}: is not set; BILLING_MODE=live needs it`));
});
