/** Live billing against Stripe's own stand-in, which refuses whatever Stripe's specification does not know. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isMissing, reasonOf } from '../../support/programs/missing.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { buildStripeMock, startStripeMock, type StripeMock } from '../../support/fakes/stripe-mock.ts';
import { deliver, eventOf, LIVE_BILLING } from '../../support/fakes/stripe-server.ts';

const isWithout = isMissing('requests to Stripe', await reasonOf(buildStripeMock()));

(isWithout ? describe.skip : describe)('with stripe-mock', () => {
  let mock: StripeMock;
  let service: TestService;
  let tenant: Tenant;

  beforeAll(async () => {
    mock = await startStripeMock();
    service = await startTestService({ worker: false, env: LIVE_BILLING(mock) });
    tenant = await service.tenant('acc_stripe', 'free');
  });
  afterAll(async () => {
    await service?.close();
    await mock?.close();
  });

  // Guards: every request of ours is one that Stripe takes, from the customer to the subscription and its change.
  test('subscribes, and switches', async () => {
    const body = { billing_plan_id: 'plan_starter', currency: 'USD' };
    const created = await tenant.cp('POST', '/v1/billing/subscribe', body);
    expect(created).toMatchObject({ status: 200, body: { ok: true, change: 'created', plan_id: 'plan_starter' } });
    expect(created.body.subscription).toMatchObject({ object: 'subscription', collection_method: 'send_invoice' });
    const updated = await tenant.cp('POST', '/v1/billing/subscribe', { ...body, billing_plan_id: 'plan_pro' });
    expect(updated).toMatchObject({ status: 200, body: { ok: true, change: 'updated', plan_id: 'plan_pro' } });
  });

  // Guards against: a currency in which a plan has no price; Stripe's fixture has dollars only.
  test('refuses a plan without a price', async () => {
    expect(await tenant.cp('POST', '/v1/billing/subscribe', { billing_plan_id: 'plan_pro' })).toMatchObject({
      status: 409,
      body: { detail: 'plan plan_pro has no active IDR price' },
    });
  });

  // Guards: the payment page that Stripe makes leads to the credit of its event.
  test('tops up', async () => {
    const { status, body } = await tenant.cp('POST', '/v1/billing/topup', { amount_usd_cents: 2_500 });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { ok: true, charged: { amount: 41_250_000, currency: 'IDR' }, credit_usd_micros: 25_000_000 },
    });
    expect(body.checkout_session_id).toMatch(/^cs_/);
    const paid = eventOf('checkout.session.completed', { id: body.checkout_session_id, payment_status: 'paid' });
    expect(await deliver(service.controlPlaneUrl, paid)).toEqual({ status: 200, body: { received: true } });
    const wallet = await tenant.cp('GET', '/v1/billing/wallet');
    expect(wallet.body).toMatchObject({ balance_usd_micros: 25_000_000, meta: { limit: 50, offset: 0, total: 1 } });
  });

  // Guards: the catalogue shows the prices that the provider sells at.
  test('shows the catalogue', async () => {
    const { body } = await tenant.cp('GET', '/v1/billing/catalog');
    expect(body.error).toBeUndefined();
    expect(
      body.tiers.map((tier: { key: string; billing_plan_live: boolean }) => [tier.key, tier.billing_plan_live]),
    ).toEqual([
      ['free', false],
      ['starter', true],
      ['pro', true],
      ['scale', false],
    ]);
  });
});
