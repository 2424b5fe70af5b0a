/** What is sold: tiers and their list prices. In live billing the provider's prices take the place of these. */
import { CAPPED_RESOURCES, capOf, type CappedResource, type Plan } from '../workspaces/model.ts';
import { MANAGED_USD_MICROS_PER_MINUTE, ROUTER_MARKUP, type Currency } from './model.ts';

/** It is raised whenever the content of the catalogue changes. */
export const CATALOG_VERSION = 1;

export const MODIFIERS = {
  infra: { managed_usd_micros_per_minute: MANAGED_USD_MICROS_PER_MINUTE },
  model_vendor: { byo_only: true },
  model_router: { managed_cost_markup: Number(ROUTER_MARKUP) },
} as const;

/** The lower tier comes first. */
export const PAID_TIERS = ['starter', 'pro'] as const;
export type PaidTier = (typeof PAID_TIERS)[number];

/** Prices are for a month, in cents. */
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
  /** Set in live billing only: says whether the provider sells it. */
  billing_plan_live?: boolean;
}

/** A tier lists every cap, so a new one does not compile without its words. */
const CAP_NAMES: Readonly<Record<CappedResource, readonly [one: string, many: string]>> = {
  runs_per_day: ['run a day', 'runs a day'],
  api_keys: ['API key', 'API keys'],
  agents: ['agent of your own', 'agents of your own'],
  custom_tools: ['custom tool', 'custom tools'],
  custom_skills: ['custom skill', 'custom skills'],
  cold_memory_entries: ['memory entry', 'memory entries'],
  webhook_endpoints: ['webhook endpoint', 'webhook endpoints'],
  output_destinations: ['output destination', 'output destinations'],
  scheduled_jobs: ['scheduled job', 'scheduled jobs'],
  heartbeats: ['heartbeat', 'heartbeats'],
};

const capsOf = (plan: Plan): string[] =>
  CAPPED_RESOURCES.map((resource) => {
    const [one, many] = CAP_NAMES[resource];
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

/** @returns the tier as the provider sells it; without a plan there it cannot be bought here */
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

/** @returns the tier without a price, for when the provider cannot be asked */
export const contactSales = (tier: TierOnSale): TierOnSale => ({
  ...tier,
  ...UNPRICED,
  contact_only: tier.contact_only || tier.billing_plan_id !== null,
  billing_plan_live: false,
});

/** @returns the tier that the plan with this provider's id gives */
export const tierOfPlanId = (planIds: Record<PaidTier, string>, planId: string | undefined): PaidTier | undefined =>
  PAID_TIERS.find((tier) => planIds[tier] === planId);
