/**
 * Credit for the wallet is only asked for here: it lands with the provider's word that it was paid
 * (`service/events.ts`).
 */
import { Decimal } from 'decimal.js';
import { hmacSha256, safeEqual, secretsIn } from '../../../platform/core/crypto.ts';
import { newUuid } from '../../../platform/core/ids.ts';
import { Problem } from '../../../platform/core/problem.ts';
import { fieldsOf } from '../../../platform/core/record.ts';
import type { Caller } from '../../../platform/http/endpoint.ts';
import type { Claim } from '../../../platform/http/once-only.ts';
import type { NewTopup } from '../contract.ts';
import { CURRENCIES, TOPUP, USD_MICROS, type Currency } from '../model.ts';
import type { Billing } from '../provider.ts';
import type { BillingStore, TopupRow } from '../store.ts';

export interface TopupOptions {
  billing: Billing;
  /** Rupiah for one dollar. */
  fx: string;
  returnBase: string;
  /** It signs what comes back with the event of a payment; older keys after a comma still verify. */
  secret: string;
  store: Pick<BillingStore, 'findDeployment' | 'addTopup'>;
}

const RUPIAH = 100;

export const createTopup = ({ billing, fx, returnBase, secret, store }: TopupOptions) => ({
  options: () => ({
    mode: billing.mode,
    presets_usd_cents: [...TOPUP.presets_usd_cents],
    min_usd_cents: TOPUP.min_usd_cents,
    max_usd_cents: TOPUP.max_usd_cents,
    min_initial_usd_cents: {
      managed_infra: TOPUP.min_initial_usd_cents_with_managed_infra,
      models_only: TOPUP.min_initial_usd_cents_models_only,
    },
    fx_usd_idr: fx,
  }),

  /** @throws Problem invalid_amount, bad_request, billing_provider_failed */
  async topup(
    { customerId }: Caller,
    { amount_usd_cents: cents, return_path: path }: NewTopup,
    currency: Currency,
    claim?: Claim,
  ) {
    if (!Number.isInteger(cents) || cents < TOPUP.min_usd_cents || cents > TOPUP.max_usd_cents) {
      throw new Problem('invalid_amount');
    }
    const backTo = returnUrl(returnBase, path);
    if (billing.mode === 'internal_noop') {
      return { ok: true as const, noop: true as const, message: 'Billing is off: no credit is needed.' };
    }
    const bought = {
      customerId,
      currency,
      chargedCents: currency === 'USD' ? cents : rupiahCents(cents, fx),
      creditUsdMicros: cents * (USD_MICROS / 100),
      fxUsdIdr: fx,
    };
    const { sessionId, url } = await billing.provider.checkout({
      payer: (await store.findDeployment(customerId))?.payer,
      customerId,
      currency,
      cents: bought.chargedCents,
      description: `Wallet credit of $${new Decimal(cents).div(100).toFixed(2)}`,
      metadata: toMetadata(bought, secret),
      successUrl: backTo('done'),
      cancelUrl: backTo('cancelled'),
      // The provider recognizes a repeat by it, and answers with the session that it made.
      attempt: claim?.token ?? newUuid(),
    });
    await store.addTopup({ ...bought, sessionId });
    return {
      ok: true as const,
      checkout_session_id: sessionId,
      checkout_url: url,
      charged: { amount: bought.chargedCents, currency },
      credit_usd_micros: bought.creditUsdMicros,
      fx_usd_idr: fx,
    };
  },
});

/** @returns rupiah in cents, but whole rupiah, as there are no coins for less */
const rupiahCents = (usdCents: number, fx: string): number =>
  new Decimal(usdCents).times(fx).div(RUPIAH).toDecimalPlaces(0, Decimal.ROUND_HALF_UP).times(RUPIAH).toNumber();

/**
 * @returns a function for the page to lead back to, which is only ever one of the deployment's own host, whatever the
 * path says
 * @throws Problem bad_request
 */
function returnUrl(base: string, path: string | undefined): (outcome: 'done' | 'cancelled') => string {
  const url = path === undefined ? new URL(base) : localUrl(base, path);
  if (!url) throw new Problem('bad_request', 'return_path must be a path that begins with one /');
  return (outcome) => {
    const back = new URL(url);
    back.searchParams.set('topup', outcome);
    return back.href;
  };
}

function localUrl(base: string, path: string): URL | undefined {
  if (!/^\/(?![/\\])/.test(path) || /[\s\\\p{Cc}]/u.test(path) || !URL.canParse(path, base)) return undefined;
  const url = new URL(path, base);
  return url.origin === new URL(base).origin ? url : undefined;
}

type Bought = Omit<TopupRow, 'sessionId'>;

const signedPart = ({ customerId, currency, chargedCents, creditUsdMicros, fxUsdIdr }: Bought): string =>
  ['wallet_topup', customerId, currency, chargedCents, creditUsdMicros, fxUsdIdr].join('\n');

/**
 * Credit is thereby recognized by its session alone, where the event of the payment arrives before the session's own
 * record.
 */
const toMetadata = (bought: Bought, secret: string): Record<string, string> => ({
  customer_id: bought.customerId,
  currency: bought.currency,
  charged_cents: String(bought.chargedCents),
  credit_usd_micros: String(bought.creditUsdMicros),
  fx_usd_idr: bought.fxUsdIdr,
  proof: hmacSha256(secretsIn(secret)[0], signedPart(bought)),
});

/** @returns undefined for a session that this service did not make: others may sell things through the same account */
export function fromMetadata(metadata: unknown, secret: string): Bought | undefined {
  const given = fieldsOf(metadata);
  const text = (name: string) => (typeof given[name] === 'string' ? given[name] : '');
  const currency = CURRENCIES.find((one) => one === text('currency'));
  if (!currency) return undefined;
  const bought: Bought = {
    customerId: text('customer_id'),
    currency,
    chargedCents: Number(text('charged_cents')),
    creditUsdMicros: Number(text('credit_usd_micros')),
    fxUsdIdr: text('fx_usd_idr'),
  };
  const isOurs = secretsIn(secret).some((key) => safeEqual(hmacSha256(key, signedPart(bought)), text('proof')));
  return isOurs ? bought : undefined;
}
