/**
 * The part of Stripe's wire protocol that needs a memory: customers, subscriptions and checkout sessions that are there
 * when they are asked for again, idempotency keys, and errors in Stripe's form. Events are signed by Stripe's SDK.
 */
import Stripe from 'stripe';
import { present } from '../../../src/platform/core/present.ts';
import { startProviderServer, type ProviderAnswer, type ProviderServer } from './provider-server.ts';

export const WEBHOOK_SECRET = 'whsec_of_the_tests';

type Thing = Record<string, unknown> & { id: string };
type Form = Record<string, string>;

export interface StripeServer extends Pick<ProviderServer, 'url' | 'requests' | 'close'> {
  /** By id: products, prices, customers, subscriptions, sessions. */
  things: Map<string, Thing>;
  /** Takes the place of the next answer. */
  answerNext(answer: ProviderAnswer): void;
  /** Holds every answer back until it is let go. */
  hold(): () => void;
  created(kind: 'customer' | 'subscription' | 'session'): Thing[];
}

export const LIVE_BILLING = (stripe: Pick<StripeServer, 'url'>): Record<string, string> => ({
  BILLING_MODE: 'live',
  STRIPE_SECRET_KEY: 'sk_test_123',
  STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
  STRIPE_API_BASE: stripe.url,
});

const errorOf = (status: number, code: string, message: string): ProviderAnswer => ({
  status,
  body: { error: { type: 'invalid_request_error', code, message } },
});
const list = (data: Thing[]) => ({ object: 'list', data, has_more: false });

export async function startStripeServer(): Promise<StripeServer> {
  const server = await startProviderServer();
  const things = new Map<string, Thing>();
  const answered = new Map<string, ProviderAnswer>();
  let next: ProviderAnswer | undefined;
  let held: Promise<void> | undefined;
  let count = 0;
  const ofKind = (object: string) => [...things.values()].filter((thing) => thing.object === object);
  const add = (thing: Thing): Thing => {
    things.set(thing.id, thing);
    return thing;
  };
  const price = (id: string, product: string, currency: string, unit_amount: number) =>
    add({ id, object: 'price', product, active: true, currency, unit_amount, recurring: { interval: 'month' } });
  for (const plan of ['plan_starter', 'plan_pro', 'plan_rupiah_only', 'plan_retired']) {
    add({ id: plan, object: 'product', active: plan !== 'plan_retired', name: plan });
    price(`price_${plan}_idr`, plan, 'idr', 10_000_000);
    if (plan !== 'plan_rupiah_only') price(`price_${plan}_usd`, plan, 'usd', 1_900);
  }

  const subscriptionOf = (id: string, form: Form, before?: Thing): Thing =>
    add({
      ...before,
      id,
      object: 'subscription',
      status: 'active',
      customer: before?.customer ?? form.customer,
      collection_method: form.collection_method,
      metadata: { customer_id: form['metadata[customer_id]'], plan_id: form['metadata[plan_id]'] },
      items: list([{ id: `si_${id}`, price: things.get(present(form['items[0][price]'])) }] as never),
    });

  function route(method: string, url: URL, form: Form): ProviderAnswer {
    const [, , kind = '', id, sub] = url.pathname.split('/');
    const thing = id === undefined ? undefined : things.get(id);
    const ok = (body: unknown): ProviderAnswer => ({ status: 200, body });
    const address = `${method} ${kind}${id === undefined || id === 'sessions' ? '' : '/:id'}${sub ? `/${sub}` : ''}`;
    count += 1;
    switch (address) {
      case 'POST customers':
        return ok(add({ id: `cus_${count}`, object: 'customer', payment_methods: 0, ...form }));
      case 'GET customers/:id/payment_methods':
        return ok(list(thing?.payment_methods ? [{ id: 'pm_1', object: 'payment_method' }] : []));
      case 'GET prices':
        return ok(list(ofKind('price').filter(({ product }) => product === url.searchParams.get('product'))));
      case 'GET subscriptions':
        return ok(list(ofKind('subscription').filter((one) => one.customer === url.searchParams.get('customer'))));
      case 'POST subscriptions':
        return ok(subscriptionOf(`sub_${count}`, form));
      case 'POST subscriptions/:id':
        return thing ? ok(subscriptionOf(thing.id, form, thing)) : errorOf(404, 'resource_missing', 'No such thing');
      case 'POST checkout':
        return ok(add({ id: `cs_${count}`, object: 'checkout.session', url: `https://pay.example/${count}`, ...form }));
      default:
        return thing ? ok(thing) : errorOf(404, 'resource_missing', `No such thing: ${id}`);
    }
  }

  server.answer(async ({ method, path, body, headers }) => {
    const key = headers['idempotency-key'];
    const before = typeof key === 'string' ? answered.get(key) : undefined;
    if (before && before !== 'reset') return { ...before, headers: { 'idempotent-replayed': 'true' } };
    const given = next;
    next = undefined;
    const answer =
      given ?? route(method, new URL(path, server.url), Object.fromEntries(new URLSearchParams(body)) as Form);
    if (typeof key === 'string' && answer !== 'reset' && answer.status < 500) answered.set(key, answer);
    await held;
    return answer;
  });

  const OBJECTS = { customer: 'customer', subscription: 'subscription', session: 'checkout.session' };
  return {
    url: server.url,
    requests: server.requests,
    close: server.close,
    things,
    answerNext: (answer) => void (next = answer),
    hold() {
      let letGo = () => {};
      held = new Promise((resolve) => (letGo = resolve));
      return () => letGo();
    },
    created: (kind) => ofKind(OBJECTS[kind]),
  };
}

let events = 0;
export const eventOf = (type: string, object: Record<string, unknown>, more: Record<string, unknown> = {}) => ({
  id: `evt_${(events += 1)}`,
  object: 'event',
  type,
  created: Math.floor(Date.now() / 1_000),
  data: { object },
  ...more,
});

/** As Stripe would sign it. @param ageS how long ago */
export const signatureOf = (payload: string, { secret = WEBHOOK_SECRET, ageS = 0 } = {}): string =>
  Stripe.webhooks.generateTestHeaderString({
    payload,
    secret,
    timestamp: Math.floor(Date.now() / 1_000) - ageS,
  });

/** Delivers an event the way the provider does. */
export async function deliver(
  controlPlaneUrl: string,
  event: unknown,
  headers: Record<string, string> = { 'stripe-signature': signatureOf(JSON.stringify(event)) },
): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${controlPlaneUrl}/v1/billing/webhooks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof event === 'string' ? event : JSON.stringify(event),
  });
  return { status: response.status, body: await response.json() };
}
