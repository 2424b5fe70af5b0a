/** Decides what the state of a subscription at the provider means here. */
import { PAID_TIERS, tierOfPlanId, type PaidTier } from './catalogue.ts';

export const OVER = ['canceled', 'incomplete_expired'];
/** The subscription still exists in these states, but is not paid for. */
export const SUSPENDED = ['unpaid', 'paused'];
/** A late payment stops nothing until the provider gives up. */
const LIVING = ['active', 'trialing', 'past_due'];
/** The operator lets somebody try it at the provider, so there is no invoice to pay. */
const TRIAL = 'trialing';

/** The state of a subscription at the provider, in the words of this service. */
export interface SubscriptionChange {
  /** Undefined says that the subscription is over. */
  planId: string | undefined;
  /** Undefined says that the plan tells nothing of caps, which then stay. */
  tier: PaidTier | 'free' | undefined;
  /** It is known to be paid for. Where that is not known it may be paid for all the same. */
  isPaid: boolean;
}

/** @param status the provider's word @param isPaid whether its latest invoice is paid, as far as can be told */
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

/** @returns the lower of what an invoice is for and what the subscription is for by now */
export function boughtBy(
  planIds: Record<PaidTier, string>,
  invoiced: readonly string[],
  planId: string | undefined,
): PaidTier | undefined {
  const rankOf = (id: string | undefined) => PAID_TIERS.findIndex((tier) => planIds[tier] === id);
  const most = Math.max(...invoiced.map(rankOf), -1);
  return PAID_TIERS[Math.min(most, rankOf(planId))];
}
