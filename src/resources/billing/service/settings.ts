/** Reads the settings of billing. */
import { ConfigError, type Config } from '../../../platform/core/config.ts';
import type { PaidTier } from '../catalogue.ts';
import type { Billing } from '../provider.ts';
import { createStripeProvider } from '../stripe.ts';

export type PlanIds = Record<PaidTier, string>;

export const planIdsOf = (settings: Pick<Config, 'BILLING_PLAN_STARTER' | 'BILLING_PLAN_PRO'>): PlanIds => ({
  starter: settings.BILLING_PLAN_STARTER,
  pro: settings.BILLING_PLAN_PRO,
});

/** @throws ConfigError in live mode where a setting that it needs is missing */
export function createBilling(config: Config): Billing {
  const { BILLING_MODE: mode, STRIPE_SECRET_KEY: key, STRIPE_WEBHOOK_SECRET: secret } = config;
  if (mode === 'internal_noop') return { mode };
  const missing = (name: string) => new ConfigError(`${name}: is not set; BILLING_MODE=live needs it`);
  if (!key) throw missing('STRIPE_SECRET_KEY');
  if (!secret) throw missing('STRIPE_WEBHOOK_SECRET');
  return { mode, provider: createStripeProvider(key, config) };
}

/** @returns the address that payment pages lead back to */
export const returnBaseOf = (config: Pick<Config, 'BILLING_RETURN_URL' | 'BASE_URL' | 'PORT'>): string =>
  config.BILLING_RETURN_URL ?? config.BASE_URL ?? `http://localhost:${config.PORT}`;
