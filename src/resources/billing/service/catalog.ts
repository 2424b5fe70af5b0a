/** What is sold, and what a workspace has bought of it. */
import { Problem } from '../../../platform/core/problem.ts';
import type { Caller } from '../../../platform/http/endpoint.ts';
import { tierOf } from '../../workspaces/model.ts';
import { CATALOG_VERSION, contactSales, MODIFIERS, tiersOnSale, withProviderPrices } from '../catalogue.ts';
import { TOPUP } from '../model.ts';
import type { Billing, ProviderPlan } from '../provider.ts';
import type { BillingStore, BilledWorkspace } from '../store.ts';
import type { PlanIds } from './settings.ts';

/** Prices are kept for this long, because anybody may ask often and they change seldom. */
const KEPT_MS = 30_000;

export interface CatalogOptions {
  billing: Billing;
  planIds: PlanIds;
  store: Pick<BillingStore, 'findDeployment'>;
}

export const createCatalog = ({ billing, planIds, store }: CatalogOptions) => {
  let kept: { until: number; plans: Map<string, ProviderPlan> } | undefined;

  async function plansAtProvider(): Promise<Map<string, ProviderPlan>> {
    if (billing.mode === 'internal_noop') return new Map();
    if (kept && kept.until > performance.now()) return kept.plans;
    const { provider } = billing;
    const found = await Promise.all(Object.values(planIds).map((id) => provider.findPlan(id)));
    const plans = new Map(found.flatMap((plan) => (plan ? [[plan.id, plan]] : [])));
    kept = { until: performance.now() + KEPT_MS, plans };
    return plans;
  }

  return {
    /** It never fails: where the provider does not answer, people are to be asked for the price. */
    async catalog() {
      const tiers = tiersOnSale(planIds);
      const same = { version: CATALOG_VERSION, mode: billing.mode, modifiers: MODIFIERS, topup: TOPUP };
      if (billing.mode === 'internal_noop') return { ...same, tiers };
      try {
        const plans = await plansAtProvider();
        return {
          ...same,
          tiers: tiers.map((tier) => withProviderPrices(tier, plans.get(tier.billing_plan_id ?? '')?.prices)),
        };
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        return { ...same, tiers: tiers.map(contactSales), error: error.message };
      }
    },

    /**
     * The provider's invoices have the amounts of subscriptions. This tells what the service itself bills, which is
     * nothing.
     */
    async summary({ customerId }: Pick<Caller, 'customerId'>) {
      const deployment = await store.findDeployment(customerId);
      const isLive = billing.mode === 'live';
      return {
        mode: billing.mode,
        current_tier: isLive ? 'unknown' : tierOf(deployment?.plan ?? 'free'),
        ...(deployment?.planId !== undefined && { current_plan_id: deployment.planId }),
        current_period: monthOf(new Date()),
        subscription_idr: 0,
        addons_idr: 0,
        managed_model_vendor_idr: 0,
        total_idr: 0,
        lines: [],
        note: isLive ? liveNote(deployment) : 'Billing is off: nothing is charged.',
      };
    },
  };
};

function liveNote(deployment: BilledWorkspace | undefined): string {
  const amounts = 'Amounts are on the invoices of the billing provider.';
  if (!deployment || deployment.planInForce === deployment.plan) return amounts;
  return `${amounts} Until ${deployment.plan} is paid for, the caps are those of ${deployment.planInForce}.`;
}

const monthOf = (now: Date) => ({
  start: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1)),
  end: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)),
});
