/** What the state of a subscription at the provider comes to here. Pure. */
import { tierOfPlanId, type PaidTier } from './catalogue.ts';
import type { SubscriptionChange } from './store.ts';

const OVER = ['canceled', 'incomplete_expired'];
/** There still, but not paid for. */
const SUSPENDED = ['unpaid', 'paused'];
/** Late is paid for until the provider gives up. */
const PAID = ['active', 'trialing', 'past_due'];

/** @param status the provider's word */
export function changeFor(
  planIds: Record<PaidTier, string>,
  planId: string | undefined,
  status: string,
): SubscriptionChange {
  if (OVER.includes(status)) return { planId: undefined, tier: 'free' };
  if (SUSPENDED.includes(status)) return { planId, tier: 'free' };
  return { planId, tier: PAID.includes(status) ? tierOfPlanId(planIds, planId) : undefined };
}
