/**
 * The HTTP contract of billing. Amounts are whole numbers of what the field's name says (cents, micros, rupiah); other
 * dollars are decimal strings.
 */
import { z } from 'zod';
import { endpoint } from '../../platform/http/endpoint.ts';
import { limit, offset, Timestamp, Usd } from '../../platform/http/schemas.ts';
import { BILLING_MODES, CURRENCIES, LEDGER_KINDS } from './model.ts';

const Mode = z.enum(BILLING_MODES);
const ON = { credential: 'identity', badInput: 400 } as const;
const Rate = z.string().describe('Rupiah for a dollar, a decimal string');

const Tier = z
  .object({
    key: z.enum(['free', 'starter', 'pro', 'scale']),
    name: z.string(),
    tagline: z.string(),
    monthly_idr_cents: z.int().nullable(),
    monthly_usd_cents: z.int().nullable(),
    billing_plan_id: z.string().nullable(),
    can_provision_managed: z.boolean(),
    caps: z.array(z.string()),
    support: z.string(),
    contact_only: z.boolean(),
    billing_plan_live: z.boolean().optional().describe('Live mode: the provider sells it'),
  })
  .meta({ id: 'BillingTier' });

const Catalog = z
  .object({
    version: z.int(),
    mode: Mode,
    tiers: z.array(Tier),
    modifiers: z.object({
      infra: z.object({ managed_usd_micros_per_minute: z.int() }),
      model_vendor: z.object({ byo_only: z.boolean() }),
      model_router: z.object({ managed_cost_markup: z.number() }),
    }),
    topup: z.object({
      min_initial_usd_cents_with_managed_infra: z.int(),
      min_initial_usd_cents_models_only: z.int(),
      min_usd_cents: z.int(),
      max_usd_cents: z.int(),
      presets_usd_cents: z.array(z.int()).readonly(),
    }),
    error: z.string().optional().describe('The provider could not be asked; prices are with sales'),
  })
  .meta({ id: 'BillingCatalog' });

const SummaryLine = z.object({
  merchant_id: z.string(),
  period_start: Timestamp,
  period_end: Timestamp,
  billing_revenue_idr: z.number(),
  partner_share_idr: z.number(),
  settlement_idr: z.number(),
});

const Summary = z
  .object({
    mode: Mode,
    current_tier: z.string().describe('`unknown` in live mode'),
    current_plan_id: z.string().optional(),
    current_period: z.object({ start: Timestamp, end: Timestamp }),
    subscription_idr: z.number(),
    addons_idr: z.number(),
    managed_model_vendor_idr: z.number(),
    total_idr: z.number(),
    lines: z.array(SummaryLine),
    note: z.string().optional(),
  })
  .meta({ id: 'BillingSummary' });

const Noop = z.object({ ok: z.literal(true), noop: z.literal(true), message: z.string() }).meta({ id: 'BillingNoop' });

const LedgerRow = z
  .object({
    id: z.int(),
    delta_usd_micros: z.int(),
    balance_after_usd_micros: z.int(),
    kind: z.enum(LEDGER_KINDS),
    paid_idr_cents: z.int().nullable(),
    fx_usd_idr: Rate.nullable(),
    meta: z.record(z.string(), z.unknown()),
    created_at: Timestamp,
  })
  .meta({ id: 'WalletLedgerRow' });

const Addons = z
  .object({
    deployment_status: z.string().nullable().describe('Of the workspace; null before it is created'),
    model_router: z.object({
      managed: z.boolean(),
      key_hash: z.string().nullable(),
      key_limit_usd: Usd.nullable(),
    }),
    model_vendor: z.object({
      mode: z.literal('byo'),
      kind: z.string().nullable().describe('The vendor whose key the workspace brought'),
    }),
  })
  .meta({ id: 'BillingAddons' });

const CurrencyChoice = z
  .enum(CURRENCIES, `currency: must be ${CURRENCIES.join(' or ')}`)
  .nullish()
  .describe("By default that of the caller's country: IDR in Indonesia and where it is not known, else USD");

const NewSubscription = z.object(
  {
    billing_plan_id: z
      .string('billing_plan_id required')
      .trim()
      .min(1, 'billing_plan_id required')
      .max(255, 'billing_plan_id too long (max 255)'),
    currency: CurrencyChoice,
  },
  'billing_plan_id required',
);
export type NewSubscription = z.output<typeof NewSubscription>;

const NewTopup = z.object(
  {
    // Any number is taken, because one out of bounds is a problem of its own.
    amount_usd_cents: z.number('amount_usd_cents required, a whole number'),
    currency: CurrencyChoice,
    return_path: z
      .string('return_path must be a text')
      .max(1_000, 'return_path too long (max 1000)')
      .optional()
      .describe('Where the payment page leads back to: a path on our own host'),
  },
  'amount_usd_cents required, a whole number',
);
export type NewTopup = z.output<typeof NewTopup>;

export const getCatalog = endpoint({
  ...ON,
  id: 'billing.catalog',
  path: '/v1/billing/catalog',
  summary: 'Tiers, prices and bounds',
  reply: Catalog,
});

export const getSummary = endpoint({
  ...ON,
  id: 'billing.summary',
  path: '/v1/billing/summary',
  summary: 'What the workspace is on, and the current period',
  reply: Summary,
});

export const subscribe = endpoint({
  ...ON,
  id: 'billing.subscribe',
  path: '/v1/billing/subscribe',
  summary: 'Subscribe to a plan, or switch to it',
  description:
    'Where a payment method is needed the answer leads to a hosted page; ask again when it is filled in. ' +
    'Changes of one workspace go one after another.',
  body: NewSubscription,
  reply: z.union([
    Noop,
    z
      .object({
        ok: z.literal(true),
        change: z.enum(['created', 'updated']),
        subscription: z.record(z.string(), z.unknown()).describe('As the provider has it'),
        plan_id: z.string(),
      })
      .meta({ id: 'PlanSubscribed' }),
    z
      .object({ ok: z.literal(false), payment_method_required: z.literal(true), checkout_url: z.string() })
      .meta({ id: 'PaymentMethodRequired' }),
  ]),
  problems: [
    'no_deployment_for_customer',
    'could_not_resolve_billing_customer_id',
    'plan_not_found',
    'plan_has_no_price',
    'billing_change_in_progress',
    'billing_provider_failed',
  ],
});

export const getWallet = endpoint({
  ...ON,
  id: 'billing.wallet',
  path: '/v1/billing/wallet',
  summary: 'Balance and ledger, newest first',
  query: z.object({ limit: limit(500, 50), offset }),
  reply: z.object({
    balance_usd_micros: z.int(),
    data: z.array(LedgerRow),
    meta: z.object({ limit: z.int(), offset: z.int(), total: z.int() }),
  }),
});

export const getTopupOptions = endpoint({
  ...ON,
  id: 'billing.topupOptions',
  path: '/v1/billing/topup/options',
  summary: 'What credit can be bought',
  reply: z.object({
    mode: Mode,
    presets_usd_cents: z.array(z.int()),
    min_usd_cents: z.int(),
    max_usd_cents: z.int(),
    min_initial_usd_cents: z.object({ managed_infra: z.int(), models_only: z.int() }),
    fx_usd_idr: Rate,
  }),
});

export const topup = endpoint({
  ...ON,
  id: 'billing.topup',
  path: '/v1/billing/topup',
  idempotent: true,
  summary: 'Buy credit',
  description: 'Gives the address of a payment page. The credit lands when the provider says that it was paid.',
  body: NewTopup,
  reply: z.union([
    Noop,
    z
      .object({
        ok: z.literal(true),
        checkout_session_id: z.string(),
        checkout_url: z.string(),
        charged: z.object({ amount: z.int().describe("In the currency's cents"), currency: z.enum(CURRENCIES) }),
        credit_usd_micros: z.int(),
        fx_usd_idr: Rate,
      })
      .meta({ id: 'TopupCheckout' }),
  ]),
  problems: ['invalid_amount', 'billing_provider_failed'],
});

export const getAddons = endpoint({
  ...ON,
  id: 'billing.addons',
  path: '/v1/billing/addons',
  summary: 'Add-ons of the workspace',
  reply: Addons,
});

export const setModelRouter = endpoint({
  ...ON,
  id: 'billing.setModelRouter',
  path: '/v1/billing/addons/model-router',
  summary: 'Switch the managed model router on or off',
  description: 'On: a key that may spend what the wallet holds, used where the workspace has none of its own.',
  body: z.object({ enabled: z.boolean('enabled required, true or false') }, 'enabled required, true or false'),
  reply: Addons,
  problems: [
    'no_deployment_for_customer',
    'addon_requires_ready_deployment',
    'insufficient_credit',
    'billing_change_in_progress',
    'billing_provider_failed',
  ],
});

export const receiveWebhook = endpoint({
  id: 'billing.webhook',
  path: '/v1/billing/webhooks',
  credential: 'provider',
  audited: false,
  summary: 'Events of the billing provider, signed by it',
  rawBody: true,
  body: z.record(z.string(), z.unknown()).optional(),
  badInput: 400,
  reply: z.object({ received: z.literal(true) }),
  problems: ['invalid_signature', 'invalid_json'],
});
