/** What billing asks of a payment provider, in words that are nobody's product. Every call may be repeated. */
import type { BillingMode, Currency } from './model.ts';

export interface BillingCustomer {
  workspaceId: string;
  customerId: string;
  /** Of who pays, where it is known. */
  email?: string | null;
}

interface ProviderPrice {
  id: string;
  currency: Currency;
  /** A month, in the currency's cents; null where it depends on use. */
  cents: number | null;
}

export interface ProviderPlan {
  id: string;
  /** The first active one in each currency. */
  prices: Partial<Record<Currency, ProviderPrice>>;
}

export interface ProviderSubscription {
  id: string;
  status: string;
  /** Whether its latest invoice is paid. */
  isPaid: boolean;
  /** As the provider has it. */
  raw: Record<string, unknown>;
}

export interface SubscriptionRequest {
  customer: BillingCustomer;
  /** The provider's id of the customer. */
  payer: string;
  planId: string;
  price: ProviderPrice;
  /** The one to change, where there is one. */
  current: string | undefined;
  /** A repeated call with it does nothing twice. */
  attempt: string;
  returnUrl: string;
}

type SubscriptionOutcome =
  | { change: 'created' | 'updated'; subscription: ProviderSubscription }
  /** Where the caller leaves a payment method; then it is to be asked again. */
  | { checkoutUrl: string };

interface CheckoutRequest {
  /** The provider's id of the customer, where there is one. */
  payer: string | undefined;
  customerId: string;
  currency: Currency;
  cents: number;
  description: string;
  /** Comes back with the event of the payment. */
  metadata: Record<string, string>;
  successUrl: string;
  cancelUrl: string;
  attempt: string;
}

/** @throws Problem billing_provider_failed, from every call */
export interface BillingProvider {
  createCustomer(customer: BillingCustomer): Promise<string>;
  /** Undefined for one that does not exist or is not sold any more. */
  findPlan(planId: string): Promise<ProviderPlan | undefined>;
  subscribe(request: SubscriptionRequest): Promise<SubscriptionOutcome>;
  checkout(request: CheckoutRequest): Promise<{ sessionId: string; url: string }>;
}

/** How a deployment bills: `internal_noop` has nobody to ask. */
export type Billing =
  { mode: Extract<BillingMode, 'internal_noop'> } | { mode: Extract<BillingMode, 'live'>; provider: BillingProvider };
