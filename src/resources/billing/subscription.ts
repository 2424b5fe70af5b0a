/** What the state of a subscription at the provider comes to here. Pure. */
import { PAID_TIERS, tierOfPlanId, type PaidTier } from './catalogue.ts';

export const OVER = ['canceled', 'incomplete_expired'];
/** There still, but not paid for. */
export const SUSPENDED = ['unpaid', 'paused'];
/** Late is not stopped until the provider gives up. */
const LIVING = ['active', 'trialing', 'past_due'];
/** What the operator lets somebody try at the provider has no invoice to pay. */
const TRIAL = 'trialing';

/** What a subscription at the provider comes to here. */
export interface SubscriptionChange {
  /** Undefined: it is over. */
  planId: string | undefined;
  /** Undefined: the plan says nothing of caps, which stay. */
  tier: PaidTier | 'free' | undefined;
  /** Known to be paid for. What is not known to be may have been all the same. */
  isPaid: boolean;
}

/** @param status the provider's word @param isPaid whether its latest invoice is, as far as can be told */
export function changeFor(
  planIds: Record<PaidTier, string>,
  planId: string | undefined,
  { status, isPaid }: { status: string; isPaid: boolean },
): SubscriptionChange {
  if (OVER.includes(status)) return { planId: undefined, tier: 'free', isPaid: false };
  if (SUSPENDED.includes(status)) return { planId, tier: 'free', isPaid: false };
  const tier = LIVING.includes(status) ? tierOfPlanId(planIds, planId) : undefined;
  return { planId, tier, isPaid: isPaid || status === TRIAL };
}

/** The lower of what an invoice is for and what the subscription is for by now. */
export function boughtBy(
  planIds: Record<PaidTier, string>,
  invoiced: readonly string[],
  planId: string | undefined,
): PaidTier | undefined {
  const rankOf = (id: string | undefined) => PAID_TIERS.findIndex((tier) => planIds[tier] === id);
  const most = Math.max(...invoiced.map(rankOf), -1);
  return PAID_TIERS[Math.min(most, rankOf(planId))];
}
