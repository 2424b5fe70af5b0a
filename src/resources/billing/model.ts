/** Words and figures of billing. */
export const BILLING_MODES = ['internal_noop', 'live'] as const;
export type BillingMode = (typeof BILLING_MODES)[number];

/** Why the balance of a wallet changed. */
export const LEDGER_KINDS = ['topup', 'run', 'model_router', 'managed_infra', 'refund', 'adjustment'] as const;
export type LedgerKind = (typeof LEDGER_KINDS)[number];

export const CURRENCIES = ['IDR', 'USD'] as const;
export type Currency = (typeof CURRENCIES)[number];

export const USD_MICROS = 1_000_000;
/** A minute of managed infrastructure costs this. */
export const MANAGED_USD_MICROS_PER_MINUTE = 1_667;
/** The managed model router bills this for a dollar that the provider bills. */
export const ROUTER_MARKUP = '1.2';

/** Amounts in US cents. */
export const TOPUP = {
  min_initial_usd_cents_with_managed_infra: 3_000,
  min_initial_usd_cents_models_only: 1_000,
  min_usd_cents: 500,
  max_usd_cents: 100_000,
  presets_usd_cents: [1_000, 2_500, 5_000, 10_000],
} as const;

/**
 * @param usd a decimal string without exponent, of eight decimals at most
 * @returns what a model call takes from a wallet, in millionths of a dollar: its price with the markup, half a
 * millionth rounded up. It is exact, as no floating point is used.
 */
export function chargeOf(usd: string, markup = '1'): number {
  const [price, factor] = [decimal(usd), decimal(markup)];
  const unit = 10n ** BigInt(price.scale + factor.scale);
  return Number((2n * price.digits * factor.digits * BigInt(USD_MICROS) + unit) / (2n * unit));
}

function decimal(text: string): { digits: bigint; scale: number } {
  const [whole = '', fraction = ''] = text.split('.');
  return { digits: BigInt(whole + fraction), scale: fraction.length };
}

/** A workspace is charged this for the models that the deployment pays. */
export interface Tariff {
  kind: Extract<LedgerKind, 'run' | 'model_router'>;
  /** The wallet is billed this for a dollar of cost. */
  markup: string;
}

/** @returns the id of the budget that stands for a workspace's wallet; its limit is the balance */
export const walletBudgetId = (customerId: string): string => `wallet:${customerId}`;
