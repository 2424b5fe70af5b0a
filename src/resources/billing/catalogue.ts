/** What is sold: tiers and their list prices. Live, the provider's prices stand in the place of these. */
import { capOf, type CappedResource, type Plan } from '../workspaces/model.ts';
import { MANAGED_USD_MICROS_PER_MINUTE, ROUTER_MARKUP, type Currency } from './model.ts';

/** Counts changes of what the catalogue says. */
export const CATALOG_VERSION = 1;

export const MODIFIERS = {
  infra: { managed_usd_micros_per_minute: MANAGED_USD_MICROS_PER_MINUTE },
  model_vendor: { byo_only: true },
  model_router: { managed_cost_markup: Number(ROUTER_MARKUP) },
} as const;

/** The lower one first. */
export const PAID_TIERS = ['starter', 'pro'] as const;
export type PaidTier = (typeof PAID_TIERS)[number];

/** A month, in cents. */
const LIST_PRICES: Record<PaidTier, Record<Currency, number>> = {
  starter: { USD: 2_900, IDR: 44_900_000 },
  pro: { USD: 9_900, IDR: 154_900_000 },
};

interface TierOnSale {
  key: 'free' | PaidTier | 'scale';
  name: string;
  tagline: string;
  monthly_idr_cents: number | null;
  monthly_usd_cents: number | null;
  billing_plan_id: string | null;
  can_provision_managed: boolean;
  caps: string[];
  support: string;
  contact_only: boolean;
  /** Live only: the provider sells it. */
  billing_plan_live?: boolean;
}

const CAPS: readonly [CappedResource, one: string, many: string][] = [
  ['runs_per_day', 'run a day', 'runs a day'],
  ['api_keys', 'API key', 'API keys'],
  ['agents', 'agent of your own', 'agents of your own'],
  ['custom_tools', 'custom tool', 'custom tools'],
  ['custom_skills', 'custom skill', 'custom skills'],
  ['cold_memory_entries', 'memory entry', 'memory entries'],
];

const capsOf = (plan: Plan): string[] =>
  CAPS.map(([resource, one, many]) => {
    const cap = capOf(plan, resource);
    return cap === null ? `unlimited ${many}` : `${cap.toLocaleString('en-US')} ${cap === 1 ? one : many}`;
  });

const UNPRICED = { monthly_idr_cents: null, monthly_usd_cents: null } as const;

const paidTier = (key: PaidTier, name: string, tagline: string, support: string, planId: string): TierOnSale => ({
  key,
  name,
  tagline,
  monthly_idr_cents: LIST_PRICES[key].IDR,
  monthly_usd_cents: LIST_PRICES[key].USD,
  billing_plan_id: planId,
  can_provision_managed: true,
  caps: capsOf(`${key}_byo`),
  support,
  contact_only: false,
});

/** @param planIds the provider's ids of the paid tiers */
export const tiersOnSale = (planIds: Record<PaidTier, string>): TierOnSale[] => [
  {
    key: 'free',
    name: 'Free',
    tagline: 'Try agents and pipelines.',
    ...UNPRICED,
    billing_plan_id: null,
    can_provision_managed: false,
    caps: capsOf('free'),
    support: 'community',
    contact_only: false,
  },
  paidTier('starter', 'Starter', 'Agents that work every day.', 'email', planIds.starter),
  paidTier('pro', 'Pro', 'Pipelines that a team relies on.', 'priority', planIds.pro),
  {
    key: 'scale',
    name: 'Scale',
    tagline: 'Without caps, by agreement.',
    ...UNPRICED,
    billing_plan_id: null,
    can_provision_managed: false,
    caps: capsOf('scale'),
    support: 'dedicated',
    contact_only: true,
  },
];

/** As the provider sells it; without a plan there it cannot be bought here. */
export const withProviderPrices = (
  tier: TierOnSale,
  prices: Partial<Record<Currency, { cents: number | null }>> | undefined,
): TierOnSale => ({
  ...tier,
  ...(tier.billing_plan_id !== null && {
    monthly_idr_cents: prices?.IDR?.cents ?? null,
    monthly_usd_cents: prices?.USD?.cents ?? null,
  }),
  billing_plan_live: prices !== undefined && Object.keys(prices).length > 0,
});

/** What is left to say when the provider cannot be asked. */
export const contactSales = (tier: TierOnSale): TierOnSale => ({
  ...tier,
  ...UNPRICED,
  contact_only: tier.contact_only || tier.billing_plan_id !== null,
  billing_plan_live: false,
});

/** The tier a plan gives, by the provider's id. */
export const tierOfPlanId = (planIds: Record<PaidTier, string>, planId: string | undefined): PaidTier | undefined =>
  PAID_TIERS.find((tier) => planIds[tier] === planId);
