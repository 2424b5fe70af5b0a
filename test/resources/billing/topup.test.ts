/** Credit: asked for here, landed by the provider's signed word alone (POST /v1/billing/webhooks), and once. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eq } from 'drizzle-orm';
import { present } from '../../../src/platform/core/present.ts';
import { billingEvents, topups } from '../../../src/resources/billing/table.ts';
import { sized, tried } from '../../support/runner/sizes.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import {
  deliver,
  eventOf,
  LIVE_BILLING,
  signatureOf,
  startStripeServer,
  type StripeServer,
} from '../../support/fakes/stripe-server.ts';

/** Of one event, at once. */
const DELIVERIES = sized(10, 100);

let stripe: StripeServer;
let service: TestService;
let tenant: Tenant;

beforeAll(async () => {
  stripe = await startStripeServer();
  service = await startTestService({
    worker: false,
    env: {
      ...LIVE_BILLING(stripe),
      BILLING_RETURN_URL: 'https://app.example/billing',
      BILLING_FX_USD_IDR: '16123.4567',
    },
  });
  tenant = await service.tenant('acc_buyer', 'free');
});
afterAll(async () => {
  await service?.close();
  await stripe?.close();
});

const topup = async (body: Record<string, unknown> = {}, who = tenant) =>
  (await who.cp('POST', '/v1/billing/topup', { amount_usd_cents: 1_000, ...body })).body;
const wallet = async (who = tenant) => (await who.cp('GET', '/v1/billing/wallet')).body;
const tell = (event: unknown, headers?: Record<string, string>) => deliver(service.controlPlaneUrl, event, headers);
const paid = (id: string, more: Record<string, unknown> = {}, type = 'checkout.session.completed') =>
  eventOf(type, { id, object: 'checkout.session', payment_status: 'paid', ...more });
const TAKEN = { status: 200, body: { received: true } };
const session = (id: string) => present(stripe.things.get(id));
/** The metadata of a session as its event has it. */
const metadataOf = (id: string) =>
  Object.fromEntries(
    Object.entries(session(id)).flatMap(([name, value]) => {
      const [, key] = /^metadata\[(\w+)\]$/.exec(name) ?? [];
      return key ? [[key, value]] : [];
    }),
  );
const eventCount = async () => (await service.runtime.db.orm.select().from(billingEvents)).length;

describe('asking', () => {
  // Guards: what is charged and what is credited, in both currencies; rupiah are whole.
  test.each([
    [{}, {}, { amount: 16_123_500, currency: 'IDR' }],
    [{ amount_usd_cents: 500 }, {}, { amount: 8_061_700, currency: 'IDR' }],
    [{ currency: 'USD' }, {}, { amount: 1_000, currency: 'USD' }],
    [{}, { 'cf-ipcountry': 'US' }, { amount: 1_000, currency: 'USD' }],
    [{ currency: 'IDR' }, { 'cf-ipcountry': 'US' }, { amount: 16_123_500, currency: 'IDR' }],
  ])('%j with %j', async (asked, headers, charged) => {
    const body = { amount_usd_cents: 1_000, ...asked };
    const reply = await tenant.cp('POST', '/v1/billing/topup', body, headers);
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      ok: true,
      checkout_session_id: expect.stringMatching(/^cs_/),
      checkout_url: expect.stringMatching(/^https:/),
      charged,
      credit_usd_micros: body.amount_usd_cents * 10_000,
      fx_usd_idr: '16123.4567',
    });
    expect(session(reply.body.checkout_session_id)).toMatchObject({
      mode: 'payment',
      client_reference_id: 'buyer',
      'line_items[0][price_data][currency]': charged.currency.toLowerCase(),
      'line_items[0][price_data][unit_amount]': String(charged.amount),
    });
  });

  // Guards: the payment page leads back to a page of this service only.
  test('leads back', async () => {
    const backOf = async (return_path?: string) =>
      session((await topup({ return_path })).checkout_session_id).success_url;
    expect(await backOf()).toBe('https://app.example/billing?topup=done');
    expect(await backOf('/wallet?tab=1#top')).toBe('https://app.example/wallet?tab=1&topup=done#top');
    expect(await backOf('/..//evil.example')).toBe('https://app.example//evil.example?topup=done');
  });

  // Guards: asking for a top-up credits nothing.
  test('credits nothing', async () => {
    expect(await wallet()).toMatchObject({ balance_usd_micros: 0, data: [] });
  });
});

describe('an event', () => {
  // Guards: credit is given once for parallel deliveries of one event, and once for two events of one session.
  test('credits once', async () => {
    const buyer = await service.tenant('acc_once', 'free');
    const { checkout_session_id: id } = await topup({ amount_usd_cents: 2_500 }, buyer);
    const event = paid(id);
    const answers = await Promise.all(Array.from({ length: DELIVERIES }, () => tell(event)));
    tried('deliveries of one payment', DELIVERIES);
    expect(answers).toEqual(answers.map(() => TAKEN));
    expect(await tell(paid(id))).toEqual(TAKEN);
    expect(await tell(paid(id, {}, 'checkout.session.async_payment_succeeded'))).toEqual(TAKEN);
    expect(await wallet(buyer)).toEqual({
      balance_usd_micros: 25_000_000,
      data: [
        {
          id: expect.any(Number),
          kind: 'topup',
          delta_usd_micros: 25_000_000,
          balance_after_usd_micros: 25_000_000,
          paid_idr_cents: 40_308_600,
          fx_usd_idr: '16123.4567',
          created_at: expect.any(String),
          meta: { session_id: id, event_id: event.id, currency: 'IDR', charged_cents: 40_308_600 },
        },
      ],
      meta: { limit: 50, offset: 0, total: 1 },
    });
  });

  // Guards: a session that was completed unpaid is credited when it is paid.
  test('waits for the payment', async () => {
    const buyer = await service.tenant('acc_slow', 'free');
    const { checkout_session_id: id } = await topup({ currency: 'USD' }, buyer);
    for (const payment_status of ['unpaid', 'no_payment_required', undefined]) await tell(paid(id, { payment_status }));
    expect((await wallet(buyer)).balance_usd_micros).toBe(0);
    await tell(paid(id, {}, 'checkout.session.async_payment_succeeded'));
    expect(await wallet(buyer)).toMatchObject({
      balance_usd_micros: 10_000_000,
      data: [{ paid_idr_cents: null, fx_usd_idr: null }],
    });
  });

  // Guards: an event that arrives before the session was recorded is credited once, by the metadata that we signed into
  // the session.
  test('comes before the session is on record', async () => {
    const buyer = await service.tenant('acc_early', 'free');
    const { checkout_session_id: id } = await topup({}, buyer);
    await service.runtime.db.orm.delete(topups).where(eq(topups.sessionId, id));
    await tell(paid(id, { metadata: metadataOf(id) }));
    await tell(paid(id, { metadata: metadataOf(id) }));
    expect(await wallet(buyer)).toMatchObject({ balance_usd_micros: 10_000_000, meta: { total: 1 } });
  });

  // Guards: sessions that others make in the same account are ignored, whatever their metadata says.
  test('of a session that is not ours credits nothing', async () => {
    const { checkout_session_id: id } = await topup();
    const signed = metadataOf(id);
    const before = await wallet();
    const forged = [
      {},
      { customer_id: 'buyer', credit_usd_micros: '99000000', currency: 'USD', charged_cents: '9900', fx_usd_idr: '1' },
      { ...signed, credit_usd_micros: '99000000' },
      { ...signed, customer_id: 'buyer2' },
      { ...signed, proof: '' },
      null,
      'metadata',
    ];
    for (const [at, metadata] of forged.entries()) {
      expect(await tell(paid(`cs_of_others_${at}`, { metadata, client_reference_id: 'buyer' }))).toEqual(TAKEN);
    }
    expect(await wallet()).toEqual(before);
  });

  // Guards: nothing is stored, and nothing happens, without a fresh signature over the exact bytes.
  test('without a good signature is refused', async () => {
    const { checkout_session_id: id } = await topup();
    const event = paid(id);
    const text = JSON.stringify(event);
    const before = { events: await eventCount(), wallet: await wallet() };
    const refused = { status: 400, body: { detail: 'invalid_signature' } };
    for (const headers of [
      {},
      { 'stripe-signature': '' },
      { 'stripe-signature': 'nonsense' },
      { 'stripe-signature': signatureOf(text, { secret: 'whsec_of_others' }) },
      { 'stripe-signature': signatureOf(text, { ageS: 302 }) },
      { 'stripe-signature': signatureOf(`${text} `) },
      { 'stripe-signature': signatureOf(JSON.stringify(paid('cs_other'))) },
    ] as Record<string, string>[]) {
      expect(await tell(text, headers)).toEqual(refused);
    }
    expect(await tell('', { 'stripe-signature': signatureOf('') })).toMatchObject({ status: 400 });
    expect({ events: await eventCount(), wallet: await wallet() }).toEqual(before);
    // The same bytes with their own one.
    expect(await tell(text, { 'stripe-signature': signatureOf(text, { ageS: 200 }) })).toEqual(TAKEN);
  });

  // Guards: a signed event that makes no sense is no internal error.
  test.each(['[]', 'null', '7', '{}', '{"id":"evt_x","type":"a"}', '{"id":"","type":"a","data":{"object":{}}}', '{'])(
    'that is none: %s',
    async (text) => {
      expect((await tell(text, { 'stripe-signature': signatureOf(text) })).status).toBe(400);
    },
  );

  // Guards: every event is kept, those of unknown types and with texts that cannot be stored too.
  test('is kept', async () => {
    const events = [
      eventOf('invoice.paid', { id: 'in_1', description: 'half \ud800 of it \u0000' }),
      eventOf('__proto__', { id: 'in_2' }),
      eventOf('customer.subscription.updated', { id: 'sub_x', items: null, metadata: null, status: 7 }),
      eventOf('checkout.session.completed', { id: 7, payment_status: 'paid' }),
    ];
    for (const event of events) {
      expect(await tell(event)).toEqual(TAKEN);
      const [row] = await service.runtime.db.orm.select().from(billingEvents).where(eq(billingEvents.id, event.id));
      expect(row).toMatchObject({ type: event.type, payload: { id: event.id }, processedAt: expect.any(Date) });
    }
  });
});
