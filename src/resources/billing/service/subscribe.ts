/**
 * A workspace's subscription is made once and switched from then on. What it buys are the caps of its tier, which
 * follow the subscription from here and from the provider's events alike.
 */
import type { Log } from '../../../platform/core/log.ts';
import { Problem } from '../../../platform/core/problem.ts';
import type { Caller } from '../../../platform/http/endpoint.ts';
import type { NewSubscription } from '../contract.ts';
import type { Lease } from '../lease.ts';
import type { Currency } from '../model.ts';
import type { Billing, BillingCustomer, BillingProvider } from '../provider.ts';
import type { BillingStore, BilledWorkspace } from '../store.ts';
import { changeFor } from '../subscription.ts';
import type { PlanIds } from './settings.ts';

export interface SubscribeOptions {
  billing: Billing;
  planIds: PlanIds;
  returnBase: string;
  store: BillingStore;
  lease: Lease;
  log: Log;
}

/** An id of a plan can only look like this; anything else names none. */
const PLAN_ID = /^[\w-]{1,255}$/;

export const createSubscribe = ({ billing, planIds, returnBase, store, lease, log }: SubscribeOptions) => {
  async function deploymentOf(customerId: string): Promise<BilledWorkspace> {
    const deployment = await store.findDeployment(customerId);
    if (!deployment) throw new Problem('no_deployment_for_customer');
    if (deployment.status === 'archived') throw new Problem('workspace_archived');
    return deployment;
  }

  async function payerOf(provider: BillingProvider, customer: BillingCustomer, known: string | undefined) {
    if (known) return known;
    try {
      return await store.keepPayer(customer.customerId, await provider.createCustomer(customer));
    } catch (err) {
      log.warn({ err, customer_id: customer.customerId }, 'no billing customer could be made');
      throw new Problem('could_not_resolve_billing_customer_id');
    }
  }

  return {
    /** @returns null where nothing is billed. @throws Problem billing_provider_failed */
    mintBillingCustomer: async (customer: BillingCustomer): Promise<string | null> =>
      billing.mode === 'live' ? billing.provider.createCustomer(customer) : null,

    /**
     * @throws Problem no_deployment_for_customer, workspace_archived, could_not_resolve_billing_customer_id,
     *   plan_not_found, plan_has_no_price, billing_change_in_progress, billing_provider_failed
     */
    async subscribe(caller: Caller, { billing_plan_id: planId }: NewSubscription, currency: Currency) {
      const { customerId } = caller;
      await deploymentOf(customerId);
      if (billing.mode === 'internal_noop') {
        return { ok: true as const, noop: true as const, message: 'Billing is off: every plan can be used.' };
      }
      const { provider } = billing;
      return lease(customerId, async (attempt) => {
        const { workspaceId, payer: known, subscriptionId: current } = await deploymentOf(customerId);
        const customer = { workspaceId, customerId, ...emailOf(caller) };
        const payer = await payerOf(provider, customer, known);
        const plan = PLAN_ID.test(planId) ? await provider.findPlan(planId) : undefined;
        if (!plan) throw new Problem('plan_not_found', `plan ${planId} not found`);
        const price = plan.prices[currency];
        if (!price) throw new Problem('plan_has_no_price', `plan ${planId} has no active ${currency} price`);
        const request = { customer, payer, planId, price, current, attempt, returnUrl: returnBase };
        const outcome = await provider.subscribe(request);
        if ('checkoutUrl' in outcome) {
          return { ok: false as const, payment_method_required: true as const, checkout_url: outcome.checkoutUrl };
        }
        const { change, subscription } = outcome;
        const record = (before: string | undefined) =>
          store.recordSubscription(customerId, before, subscription.id, changeFor(planIds, planId, subscription));
        // Events only ever take a subscription off the record; nobody else puts one there while this lease lasts.
        if (!(await record(current))) await record(undefined);
        return { ok: true as const, change, subscription: subscription.raw, plan_id: planId };
      });
    },
  };
};

/** A caller may also be a subject of the identity provider without an address. */
const emailOf = ({ actor }: Caller) => (actor.includes('@') ? { email: actor } : {});
