/** The interface to a payment provider, in words that are nobody's product. Every call may be repeated. */
import type { BillingMode, Currency } from './model.ts';

export interface BillingCustomer {
  workspaceId: string;
  customerId: string;
  /** The mail address of whoever pays, where it is known. */
  email?: string | null;
}

interface ProviderPrice {
  id: string;
  currency: Currency;
  /** The price of a month in the currency's cents; null where it depends on use. */
  cents: number | null;
}

export interface ProviderPlan {
  id: string;
  /** The first active price in each currency. */
  prices: Partial<Record<Currency, ProviderPrice>>;
}

export interface ProviderSubscription {
  id: string;
  status: string;
  /** Says whether its latest invoice is paid. */
  isPaid: boolean;
  /** The subscription as the provider describes it. */
  raw: Record<string, unknown>;
}

export interface SubscriptionRequest {
  customer: BillingCustomer;
  /** The provider's id of the customer. */
  payer: string;
  planId: string;
  price: ProviderPrice;
  /** The subscription to change, where there is one. */
  current: string | undefined;
  /** A call that is repeated with the same one does nothing twice. */
  attempt: string;
  returnUrl: string;
}

type SubscriptionOutcome =
  | { change: 'created' | 'updated'; subscription: ProviderSubscription }
  /** The caller leaves a payment method at this page, and then asks again. */
  | { checkoutUrl: string };

interface CheckoutRequest {
  /** The provider's id of the customer, where it has one. */
  payer: string | undefined;
  customerId: string;
  currency: Currency;
  cents: number;
  description: string;
  /** It comes back with the event of the payment. */
  metadata: Record<string, string>;
  successUrl: string;
  cancelUrl: string;
  attempt: string;
}

/** @throws Problem billing_provider_failed, from every call */
export interface BillingProvider {
  createCustomer(customer: BillingCustomer): Promise<string>;
  /** @returns undefined for a plan that does not exist or is not sold any more */
  findPlan(planId: string): Promise<ProviderPlan | undefined>;
  subscribe(request: SubscriptionRequest): Promise<SubscriptionOutcome>;
  checkout(request: CheckoutRequest): Promise<{ sessionId: string; url: string }>;
}

/** How a deployment bills; `internal_noop` has nobody to ask. */
export type Billing =
  { mode: Extract<BillingMode, 'internal_noop'> } | { mode: Extract<BillingMode, 'live'>; provider: BillingProvider };
