/**
 * Stripe as the billing provider: a plan is a product, its price the first active one in the currency, credit a
 * Checkout session. The SDK is loaded with the first call, as most deployments never make one.
 */
import type Stripe from 'stripe';
import type { Config } from '../../platform/core/config.ts';
import { parseJson } from '../../platform/core/json.ts';
import { sha256 } from '../../platform/core/crypto.ts';
import { newUuid } from '../../platform/core/ids.ts';
import { Problem } from '../../platform/core/problem.ts';
import { bodyLimitIn, plainFetch } from '../../platform/egress/limits.ts';
import { CURRENCIES } from './model.ts';
import type { BillingProvider, ProviderPlan, ProviderSubscription, SubscriptionRequest } from './provider.ts';

/** An invoice is to be paid within so many days. */
const DAYS_UNTIL_DUE = 7;
const NETWORK_RETRIES = 2;
/** A subscription in one of these states still counts; another one is replaced and not changed. */
const LIVING = ['active', 'trialing', 'past_due', 'unpaid', 'incomplete', 'paused'];

type Client = InstanceType<typeof Stripe>;
export type StripeSettings = Pick<
  Config,
  'STRIPE_API_BASE' | 'STRIPE_TIMEOUT' | 'RESPONSE_MAX_MB' | 'RESPONSE_TIMEOUT'
>;

export function createStripeProvider(secretKey: string, settings: StripeSettings): BillingProvider {
  let loading: Promise<Client> | undefined;
  /** Runs one exchange with Stripe; what it throws becomes the problem that callers see. */
  const ask = async <T>(exchange: (stripe: Client) => Promise<T>): Promise<T> => {
    const stripe = await (loading ??= connect(secretKey, settings));
    return exchange(stripe).catch((error: unknown) => {
      throw error instanceof Problem ? error : providerProblem(error);
    });
  };

  return {
    createCustomer: ({ workspaceId, customerId, email }) =>
      ask(async (stripe) => {
        const create = (idempotencyKey: string) =>
          stripe.customers.create(
            {
              ...(email && { email }),
              name: customerId,
              metadata: { workspace_id: workspaceId, customer_id: customerId },
            },
            { idempotencyKey },
          );
        // The key depends on what is asked too, because the same key with other parameters is an error.
        const key = `customer:${sha256(JSON.stringify([workspaceId, customerId, email]))}`;
        const { id } = await create(key).catch((error: unknown) => {
          // Stripe repeats a failure for a day, which would keep the workspace from ever having a customer until then.
          if (!isReplayed(error)) throw error;
          return create(`${key}:${newUuid()}`);
        });
        return id;
      }),

    findPlan: (planId) => ask((stripe) => findPlan(stripe, planId)),

    subscribe: (request) =>
      ask(async (stripe) => {
        const current = await currentSubscription(stripe, request);
        if (request.price.currency === 'USD' && !(await hasPaymentMethod(stripe, request.payer)))
          return leaveCard(stripe, request);
        const options = { idempotencyKey: `subscribe:${request.attempt}` };
        const changed = {
          expand: [INVOICE],
          metadata: { customer_id: request.customer.customerId, plan_id: request.planId },
          collection_method: 'send_invoice' as const,
          days_until_due: DAYS_UNTIL_DUE,
        };
        try {
          const subscription = current
            ? await stripe.subscriptions.update(
                current.id,
                {
                  ...changed,
                  ...billingOf(current, request.price.id),
                  items: [{ id: current.items.data[0]?.id ?? '', price: request.price.id }],
                },
                options,
              )
            : await stripe.subscriptions.create(
                { ...changed, customer: request.payer, items: [{ price: request.price.id }] },
                options,
              );
          return { change: current ? 'updated' : 'created', subscription: asSubscription(subscription) };
        } catch (error) {
          if (!wantsPaymentMethod(error)) throw error;
          return leaveCard(stripe, request);
        }
      }),

    checkout: ({ payer, customerId, currency, cents, description, metadata, successUrl, cancelUrl, attempt }) =>
      ask(async (stripe) => {
        const { id, url } = await stripe.checkout.sessions.create(
          {
            mode: 'payment',
            ...(payer && { customer: payer }),
            client_reference_id: customerId,
            line_items: [
              {
                quantity: 1,
                price_data: {
                  currency: currency.toLowerCase(),
                  unit_amount: cents,
                  product_data: { name: description },
                },
              },
            ],
            metadata,
            success_url: successUrl,
            cancel_url: cancelUrl,
          },
          { idempotencyKey: `topup:${attempt}` },
        );
        if (!url) throw new Problem('billing_provider_failed', 'provider 200 no_checkout_url: the session has no page');
        return { sessionId: id, url };
      }),
  };
}

async function connect(secretKey: string, settings: StripeSettings): Promise<Client> {
  const { default: Stripe } = await import('stripe');
  const plain = plainFetch(settings);
  const limits = { totalMs: settings.STRIPE_TIMEOUT, raisedBy: { time: 'STRIPE_TIMEOUT' } };
  const fetch = ((url: string, init?: RequestInit) => plain(url, init, limits)) as typeof globalThis.fetch;
  const base = settings.STRIPE_API_BASE && new URL(settings.STRIPE_API_BASE);
  return new Stripe(secretKey, {
    maxNetworkRetries: NETWORK_RETRIES,
    timeout: settings.STRIPE_TIMEOUT,
    telemetry: false,
    httpClient: Stripe.createFetchHttpClient(fetch),
    ...(base && {
      host: base.hostname,
      port: base.port || (base.protocol === 'https:' ? 443 : 80),
      protocol: base.protocol === 'https:' ? ('https' as const) : ('http' as const),
    }),
  });
}

async function findPlan(stripe: Client, planId: string): Promise<ProviderPlan | undefined> {
  const product = await stripe.products.retrieve(planId).catch(undefinedWhereMissing);
  if (!product?.active) return undefined;
  const { data } = await stripe.prices.list({ product: planId, active: true, limit: 100 });
  const prices = CURRENCIES.flatMap((currency) => {
    const price = data.find((one) => one.active && one.recurring && one.currency === currency.toLowerCase());
    return price ? [[currency, { id: price.id, currency, cents: price.unit_amount }] as const] : [];
  });
  return { id: planId, prices: Object.fromEntries(prices) };
}

/**
 * Finds the subscription that is to be changed: the one on record, or one that an attempt made which broke off before
 * it was recorded. Without this look the next attempt would make a second one.
 */
async function currentSubscription(stripe: Client, { current, payer, customer }: SubscriptionRequest) {
  if (current) {
    const recorded = await stripe.subscriptions.retrieve(current, { expand: [INVOICE] }).catch(undefinedWhereMissing);
    if (recorded && LIVING.includes(recorded.status)) return recorded;
  }
  const { data } = await stripe.subscriptions.list({ customer: payer, limit: 100, expand: [`data.${INVOICE}`] });
  return data.find(({ metadata, status }) => metadata.customer_id === customer.customerId && LIVING.includes(status));
}

/** Rupiah is paid by invoice over local rails; a payer in dollars has a card on file. */
const hasPaymentMethod = async (stripe: Client, payer: string): Promise<boolean> =>
  (await stripe.customers.listPaymentMethods(payer, { limit: 1 })).data.length > 0;

async function leaveCard(stripe: Client, { payer, price, returnUrl, attempt }: SubscriptionRequest) {
  const session = await stripe.checkout.sessions.create(
    {
      mode: 'setup',
      customer: payer,
      currency: price.currency.toLowerCase(),
      success_url: returnUrl,
      cancel_url: returnUrl,
    },
    { idempotencyKey: `setup:${attempt}` },
  );
  return { checkoutUrl: session.url ?? '' };
}

const INVOICE = 'latest_invoice';
const isPaid = ({ latest_invoice: invoice }: Stripe.Subscription): boolean =>
  typeof invoice === 'object' && invoice?.status === 'paid';

/**
 * Decides how a switch is billed. What was paid for is set off against the new plan, and the rest is invoiced now, as
 * the plan counts from its payment. What was not paid for is worth nothing, though the provider would give credit for
 * it all the same.
 */
function billingOf(
  current: Stripe.Subscription,
  priceId: string,
): Pick<Stripe.SubscriptionUpdateParams, 'proration_behavior' | 'billing_cycle_anchor'> {
  if (current.items.data[0]?.price.id === priceId) return {};
  if (isPaid(current)) return { proration_behavior: 'always_invoice' };
  return { proration_behavior: 'none', billing_cycle_anchor: { type: 'now' } };
}

function asSubscription(subscription: Stripe.Subscription): ProviderSubscription {
  const { id, status, latest_invoice: invoice } = subscription;
  // The copy drops what the SDK adds to an answer. The invoice is named only, as where nobody asks for it whole.
  const raw = parseJson(JSON.stringify(subscription)) as Record<string, unknown>;
  if (invoice !== undefined) raw.latest_invoice = typeof invoice === 'object' ? (invoice?.id ?? null) : invoice;
  return { id, status, isPaid: isPaid(subscription), raw };
}

/** An error of the SDK is known by its fields, since its classes are not loaded here. */
interface StripeFailure {
  type?: string;
  rawType?: string;
  code?: string;
  statusCode?: number;
  message?: string;
  headers?: Record<string, string>;
}

function undefinedWhereMissing(error: unknown): undefined {
  if ((error as StripeFailure).statusCode === 404) return undefined;
  throw error;
}

const isReplayed = (error: unknown): boolean => (error as StripeFailure).headers?.['idempotent-replayed'] === 'true';

const wantsPaymentMethod = (error: unknown): boolean => {
  const { statusCode, message = '' } = error as StripeFailure;
  return (
    statusCode === 402 || (statusCode === 400 && /no attached payment source|default payment method/.test(message))
  );
};

/** Tells the failure as `provider 429 rate_limit: ...`; a status of 0 means that there was no answer at all. */
function providerProblem(error: unknown): unknown {
  const { type, rawType, code, statusCode, message } = error as StripeFailure;
  if (!type?.startsWith('Stripe')) return error;
  // The provider's own words contain a part of the key.
  const said = statusCode === 401 ? 'the deployment is not let in' : (bodyLimitIn(error)?.message ?? message);
  const name = code ?? rawType ?? (statusCode === undefined ? 'api_connection_error' : 'api_error');
  return new Problem('billing_provider_failed', `provider ${statusCode ?? 0} ${name}: ${said}`);
}
