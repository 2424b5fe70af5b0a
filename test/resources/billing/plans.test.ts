/** In live billing a plan that costs counts from its payment. Until then the caps are those of what is paid, or `free`. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { eq } from 'drizzle-orm';
import { last, present } from '../../../src/platform/core/present.ts';
import { standingIn } from '../../../src/platform/core/rights.ts';
import { capOf, CAPPED_RESOURCES, PLANS, type Plan } from '../../../src/resources/workspaces/model.ts';
import { workspaces } from '../../../src/resources/workspaces/table.ts';
import {
  sessionFor,
  startTestService,
  tenantOf,
  type Tenant,
  type TestService,
} from '../../support/service/service.ts';
import { INTERNAL_CALLER } from '../../support/http/send.ts';
import {
  deliver,
  eventOf,
  LIVE_BILLING,
  startStripeServer,
  type StripeServer,
} from '../../support/fakes/stripe-server.ts';

let stripe: StripeServer;
let service: TestService;
let tenant: Tenant;
let nth = 0;

beforeAll(async () => {
  stripe = await startStripeServer();
  service = await startTestService({ worker: false, env: LIVE_BILLING(stripe) });
  await service.services.stores.workspaces.seedInternal('http://localhost:8080');
});
afterAll(async () => {
  await service?.close();
  await stripe?.close();
});

const operator = () => tenantOf(service.baseUrl, INTERNAL_CALLER, '', sessionFor(INTERNAL_CALLER)).cp.bind(undefined);
beforeEach(() => {
  const customerId = `payer-${++nth}`;
  const workspaceId = `acc_${customerId}`;
  const caller = { workspaceId, customerId, actor: `owner@${customerId}.example` };
  tenant = tenantOf(service.baseUrl, { ...caller, standing: standingIn(workspaceId, 'owner') }, '');
});

const make = async (plan: Plan, by: Tenant['cp'] = tenant.cp) => {
  const made = await by('POST', '/v1/workspaces', { identity_workspace_id: tenant.caller.workspaceId, plan });
  expect(made.status).toBe(201);
  return made.body;
};
const shown = async () => (await tenant.cp('GET', `/v1/workspaces/${tenant.caller.workspaceId}`)).body;
/** As the caller learns of it, in every place that says so. */
async function inForce(): Promise<Plan> {
  const { plan, plan_in_force = plan } = await shown();
  const { plan: own } = (await tenant.cp('GET', '/v1/system/info')).body;
  expect(own).toMatchObject({ plan, in_force: plan_in_force });
  for (const resource of CAPPED_RESOURCES) expect(own.caps[resource]).toBe(capOf(plan_in_force, resource));
  const customers = await operator()('GET', `/v1/customers?q=${tenant.caller.workspaceId}`);
  const [customer] = customers.body.data.filter(
    (one: { customer_id: string }) => one.customer_id === tenant.caller.customerId,
  );
  expect(customer).toMatchObject({ plan, plan_in_force, tier: own.tier });
  return plan_in_force as Plan;
}
async function subscribe(planId: string, more = {}): Promise<string> {
  const { body } = await tenant.cp('POST', '/v1/billing/subscribe', { billing_plan_id: planId, ...more });
  expect(body).toMatchObject({ ok: true });
  return body.subscription.id as string;
}
let clock = 2_000_000_000;
const tell = async (type: string, object: Record<string, unknown>, created = (clock += 1)) =>
  expect((await deliver(service.controlPlaneUrl, eventOf(type, object, { created }))).status).toBe(200);
const subscription = (id: string, planId: string, status = 'active') => ({
  id,
  object: 'subscription',
  status,
  items: { data: [{ price: { id: 'price_1', product: planId } }] },
});
/** As it has been since 2025. @param lines products with amounts */
const invoice = (id: string, ...lines: [planId: string, amount: number][]) => ({
  id: `in_${(nth += 1)}`,
  object: 'invoice',
  status: 'paid',
  parent: { type: 'subscription_details', subscription_details: { subscription: id } },
  lines: { data: lines.map(([product, amount]) => ({ amount, pricing: { price_details: { product } } })) },
});
const pay = (id: string, planId: string, created?: number) =>
  tell('invoice.paid', invoice(id, [planId, 1_900]), created);

describe('a workspace that a tenant makes itself', () => {
  // Guards against: a plan taken without paying, such as by a body with `scale` in it.
  test.each(PLANS.filter((plan) => !/internal|hosted/.test(plan)))('with %s has the caps of free', async (plan) => {
    expect(await make(plan)).toMatchObject({ plan, ...(plan !== 'free' && { plan_in_force: 'free' }) });
    expect(await inForce()).toBe('free');
    const key = () => tenant.cp('POST', '/v1/api-keys', { name: 'key' });
    for (let n = 0; n < present(capOf('free', 'api_keys')); n++) expect((await key()).status).toBe(201);
    expect(await key()).toMatchObject({ status: 403, body: { detail: { resource: 'api_keys', tier: 'free' } } });
    await service.runtime.db.orm.update(workspaces).set({ status: 'ready', readyAt: new Date() });
    const runs = Array.from({ length: 3 }, () => tenant.cp('POST', '/v1/runs', { agent: 'writer', prompt: 'Write.' }));
    expect((await Promise.all(runs)).map(({ status }) => status)).toEqual([201, 201, 201]);
    const { usage } = (await operator()('GET', `/v1/customers?q=${tenant.caller.workspaceId}`)).body.data[0];
    expect(usage.runs_today).toEqual({ current: 3, limit: 100 });
  });

  // Guards against: a plan raised by destroying a workspace and making it again.
  test('again, has the caps of what is paid', async () => {
    const { stores } = service.services;
    await make('starter_byo');
    const id = await subscribe('plan_starter');
    await pay(id, 'plan_starter');
    const archive = () =>
      service.runtime.db.orm
        .update(workspaces)
        .set({ status: 'archived', archivedAt: new Date() })
        .where(eq(workspaces.customerId, tenant.caller.customerId));
    await archive();
    expect(await make('scale')).toMatchObject({ plan: 'scale', plan_in_force: 'starter_byo' });
    expect(await inForce()).toBe('starter_byo');
    // The subscription ends while there is no workspace.
    await archive();
    await tell('customer.subscription.deleted', subscription(id, 'plan_starter'));
    await make('scale');
    expect(await inForce()).toBe('free');
    expect(await stores.workspaces.find(tenant.caller.workspaceId)).toMatchObject({
      grantedPlan: null,
      paidPlan: null,
    });
  });
});

describe('what an internal admin sets', () => {
  // Guards: a plan that the operator grants counts at once, and no subscription of the tenant takes it away.
  test('stays', async () => {
    await make('pro_byo', operator());
    expect(await inForce()).toBe('pro_byo');
    const id = await subscribe('plan_starter');
    expect(await inForce()).toBe('pro_byo');
    await pay(id, 'plan_starter');
    await tell('customer.subscription.updated', subscription(id, 'plan_starter', 'unpaid'));
    await tell('customer.subscription.deleted', subscription(id, 'plan_starter'));
    expect(await shown()).toMatchObject({ plan: 'pro_byo' });
    expect(await inForce()).toBe('pro_byo');
  });

  // Guards: a granted plan is the least that the workspace has; a paid higher one counts.
  test('does not keep a tenant from buying more', async () => {
    await make('free', operator());
    const id = await subscribe('plan_pro');
    await pay(id, 'plan_pro');
    expect(await inForce()).toBe('pro_byo');
  });
});

describe('a subscription', () => {
  const start = async (planId: string) => {
    await make('free');
    return subscribe(planId);
  };

  // Guards: an invoice counts once it is paid, whatever the provider calls the subscription.
  test('counts from its payment', async () => {
    const id = await start('plan_pro');
    expect(await shown()).toMatchObject({ plan: 'pro_byo', plan_in_force: 'free' });
    await tell('customer.subscription.created', subscription(id, 'plan_pro'));
    await tell('customer.subscription.updated', subscription(id, 'plan_pro', 'past_due'));
    expect(await inForce()).toBe('free');
    const { note } = (await tenant.cp('GET', '/v1/billing/summary')).body;
    expect(note).toContain('Until pro_byo is paid for, the caps are those of free.');
    await pay('sub_of_somebody_else', 'plan_pro');
    expect(await inForce()).toBe('free');
    await pay(id, 'plan_pro');
    expect(await inForce()).toBe('pro_byo');
    expect(await shown()).not.toHaveProperty('plan_in_force');
  });

  // Guards: a higher plan starts with its payment and a lower one at once, and an invoice pays neither for a higher
  // plan than it names nor for one that is no longer subscribed.
  test('moves up when it is paid and down when it is asked for', async () => {
    const id = await start('plan_starter');
    await pay(id, 'plan_starter');
    expect(await subscribe('plan_pro')).toBe(id);
    expect(await inForce()).toBe('starter_byo');
    await pay(id, 'plan_starter');
    expect(await inForce()).toBe('starter_byo');
    await tell('invoice.paid', invoice(id, ['plan_starter', -1_000], ['plan_pro', 3_000]));
    expect(await inForce()).toBe('pro_byo');
    await subscribe('plan_starter');
    expect(await inForce()).toBe('starter_byo');
    await pay(id, 'plan_pro');
    expect(await inForce()).toBe('starter_byo');
  });

  // Guards: a credit for a plan that was left does not pay for that plan.
  test('is not bought by what an invoice gives back', async () => {
    const id = await start('plan_pro');
    await tell('invoice.paid', invoice(id, ['plan_pro', -3_000], ['plan_starter', 1_000]));
    expect(await inForce()).toBe('starter_byo');
  });

  // Guards: a workspace that stops paying has the caps of the free plan until the next payment, in whatever order the
  // events come.
  test('stops with its payments', async () => {
    const id = await start('plan_pro');
    await pay(id, 'plan_pro');
    const before = clock;
    await tell('customer.subscription.updated', subscription(id, 'plan_pro', 'unpaid'));
    expect(await inForce()).toBe('free');
    // Of the month before, late.
    await pay(id, 'plan_pro', before);
    expect(await inForce()).toBe('free');
    await tell('customer.subscription.updated', subscription(id, 'plan_pro', 'active'));
    expect(await inForce()).toBe('free');
    await pay(id, 'plan_pro');
    expect(await inForce()).toBe('pro_byo');
    await tell('customer.subscription.deleted', subscription(id, 'plan_pro'));
    expect(await inForce()).toBe('free');
    const next = await subscribe('plan_pro');
    expect(await inForce()).toBe('free');
    await pay(id, 'plan_pro');
    expect([next === id, await inForce()]).toEqual([true, 'pro_byo']);
  });

  // Guards: invoices of a newer form, which name the plan in their metadata alone, are understood.
  test.each([
    [
      'of old',
      (id: string) => ({ subscription: id, lines: { data: [{ amount: 1, price: { product: 'plan_pro' } }] } }),
    ],
    [
      'whole',
      (id: string) => ({ subscription: { id }, lines: { data: [{ price: { product: { id: 'plan_pro' } } }] } }),
    ],
    [
      'without products',
      (id: string) => ({
        parent: { subscription_details: { subscription: id, metadata: { plan_id: 'plan_pro' } } },
        lines: { data: [{ amount: 1, pricing: null }] },
      }),
    ],
  ])('is known in an invoice %s', async (_form, form) => {
    const id = await start('plan_pro');
    await tell('invoice.paid', { id: `in_form_${(nth += 1)}`, object: 'invoice', ...form(id) });
    expect(await inForce()).toBe('pro_byo');
  });
  test.each([{}, { parent: null, lines: null }, { subscription: 7 }, { lines: { data: 'x' } }])(
    'is not in an invoice like %j',
    (form) => tell('invoice.paid', { id: `in_form_${(nth += 1)}`, object: 'invoice', ...form }),
  );

  // Guards: a subscription whose start broke off before it was recorded is adopted with what was paid for it, and no
  // more.
  test.each([
    ['paid', 'starter_byo'],
    ['open', 'free'],
  ])('that is adopted with an invoice that is %s has the caps of %s', async (status, expected) => {
    const id = await start('plan_starter');
    const { billing_customer_id } = (await shown()).config;
    await service.runtime.db.orm
      .update(workspaces)
      .set({ config: { billing_customer_id }, plan: 'free', paidPlan: null })
      .where(eq(workspaces.customerId, tenant.caller.customerId));
    present(stripe.things.get(id)).latest_invoice = { id: 'in_1', object: 'invoice', status };
    const { body } = await tenant.cp('POST', '/v1/billing/subscribe', { billing_plan_id: 'plan_starter' });
    expect(body).toMatchObject({ change: 'updated', subscription: { id, latest_invoice: 'in_1' } });
    expect(await inForce()).toBe(expected);
  });

  // Guards against: unpaid invoices that the provider turns into credit, which would pay for the next plan.
  test.each([
    ['paid', { proration_behavior: 'always_invoice' }],
    ['open', { proration_behavior: 'none', 'billing_cycle_anchor[type]': 'now' }],
  ])('that is switched with an invoice that is %s sets off what was paid', async (status, expected) => {
    const id = await start('plan_starter');
    present(stripe.things.get(id)).latest_invoice = { id: 'in_1', object: 'invoice', status };
    await subscribe('plan_pro');
    const sent = stripe.requests.filter(
      ({ method, path }) => method === 'POST' && path.endsWith(`/subscriptions/${id}`),
    );
    expect(Object.fromEntries(new URLSearchParams(last(sent).body))).toMatchObject(expected);
    // The same again is no switch.
    await subscribe('plan_pro');
    const again = stripe.requests.filter(
      ({ method, path }) => method === 'POST' && path.endsWith(`/subscriptions/${id}`),
    );
    expect(last(again).body).not.toContain('proration');
  });
});
