/**
 * Handles what the billing provider tells. An event is recorded and acted on in one transaction, once; whatever it has
 * to do with the provider or the router again comes after that.
 */
import type { Log } from '../../../platform/core/log.ts';
import type { RouterKeyStore } from '../model-router/store.ts';
import { readEvent, type BillingEvent, type SignedBytes } from '../signature.ts';
import type { BillingStore } from '../store.ts';
import { boughtBy, changeFor } from '../subscription.ts';
import { paidInvoice } from '../invoice.ts';
import type { WalletStore } from '../wallet/store.ts';
import type { PlanIds } from './settings.ts';
import { fromMetadata } from './topup.ts';

export interface EventOptions {
  webhookSecret: string | undefined;
  planIds: PlanIds;
  /** It signs the metadata of top-ups. */
  secret: string;
  store: BillingStore;
  wallet: Pick<WalletStore, 'post'>;
  routerKeys: Pick<RouterKeyStore, 'raiseLimit'>;
  tellRouter: () => Promise<void>;
  log: Log;
}

export const createEvents = (options: EventOptions) => {
  const { webhookSecret, planIds, secret, store, wallet, routerKeys, tellRouter, log } = options;

  /** Gives the credit of a session that was paid, once for the session. */
  async function credit({ id: eventId, object }: BillingEvent): Promise<void> {
    if (typeof object.id !== 'string' || object.payment_status !== 'paid') return;
    const sessionId = object.id;
    let topup = await store.completeTopup(sessionId);
    if (!topup) {
      const bought = fromMetadata(object.metadata, secret);
      if (!bought) return;
      await store.addTopup({ ...bought, sessionId });
      topup = await store.completeTopup(sessionId);
    }
    if (!topup) return;
    const { customerId, currency, chargedCents, creditUsdMicros, fxUsdIdr } = topup;
    const { posted } = await wallet.post({
      customerId,
      key: `session:${sessionId}`,
      kind: 'topup',
      deltaUsdMicros: creditUsdMicros,
      ...(currency === 'IDR' && { paidIdrCents: chargedCents, fxUsdIdr }),
      meta: { session_id: sessionId, event_id: eventId, currency, charged_cents: chargedCents },
    });
    if (posted) await routerKeys.raiseLimit(customerId, creditUsdMicros);
  }

  /** Follows changes that originate at the provider: somebody made them at its dashboard, or nobody paid an invoice. */
  async function follow(event: BillingEvent): Promise<void> {
    const { object, type } = event;
    if (typeof object.id !== 'string' || (await store.isOvertaken(event))) return;
    const status = type === 'customer.subscription.deleted' ? 'canceled' : String(object.status);
    const change = changeFor(planIds, planIdIn(object), { status, isPaid: false });
    await store.followSubscription(object.id, change);
  }

  /** Puts a plan in force, which counts from the payment of its invoice. */
  async function pay({ object, created }: BillingEvent): Promise<void> {
    const invoice = paidInvoice(object);
    if (!invoice || (await store.isStoppedSince(invoice.subscriptionId, created))) return;
    await store.recordPayment(invoice.subscriptionId, (planId) => boughtBy(planIds, invoice.planIds, planId));
  }

  const HANDLERS: Record<string, (event: BillingEvent) => Promise<void>> = {
    'checkout.session.completed': credit,
    'checkout.session.async_payment_succeeded': credit,
    'customer.subscription.created': follow,
    'customer.subscription.updated': follow,
    'customer.subscription.deleted': follow,
    'invoice.paid': pay,
  };

  return {
    /** @throws Problem invalid_signature, invalid_json, bad_request */
    async receiveEvent(signed: SignedBytes): Promise<{ received: true }> {
      const event = await readEvent(webhookSecret, signed);
      const handle = Object.hasOwn(HANDLERS, event.type) ? HANDLERS[event.type] : undefined;
      const isNew = await store.onceFor(event, async () => handle?.(event));
      log.info({ billing_event_id: event.id, type: event.type, is_new: isNew }, 'billing event');
      await tellRouter();
      return { received: true };
    },
  };
};

/** @returns the id of the plan, which is a product that a price of the subscription names */
function planIdIn(subscription: Record<string, unknown>): string | undefined {
  const { items, metadata } = subscription as {
    items?: { data?: { price?: { product?: string | { id?: string } } }[] };
    metadata?: { plan_id?: string };
  };
  const product = items?.data?.[0]?.price?.product;
  return (typeof product === 'string' ? product : product?.id) ?? metadata?.plan_id;
}
