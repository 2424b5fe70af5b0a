/** What a caller can do with billing; each use case has its file. */
import type { Config } from '../../../platform/core/config.ts';
import type { SecretBox } from '../../../platform/core/crypto.ts';
import type { Log } from '../../../platform/core/log.ts';
import type { Caller } from '../../../platform/http/endpoint.ts';
import type { Lease } from '../lease.ts';
import type { Currency } from '../model.ts';
import { createModelRouter } from '../model-router/router.ts';
import type { RouterKeyStore } from '../model-router/store.ts';
import type { BillingStore } from '../store.ts';
import type { WalletStore } from '../wallet/store.ts';
import { createAddons } from './addons.ts';
import { createCatalog } from './catalog.ts';
import { createEvents } from './events.ts';
import { createBilling, planIdsOf, returnBaseOf } from './settings.ts';
import { createSubscribe } from './subscribe.ts';
import { createTopup } from './topup.ts';

export type BillingService = ReturnType<typeof createBillingService>;

export interface BillingServiceOptions {
  config: Config;
  store: BillingStore;
  wallet: WalletStore;
  routerKeys: RouterKeyStore;
  lease: Lease;
  secretBox: SecretBox;
  modelVendorOf: (customerId: string) => Promise<string | null>;
  log: Log;
}

/** @throws ConfigError when the settings of live billing or of the model router are not whole */
export function createBillingService({ config, ...parts }: BillingServiceOptions) {
  const { wallet } = parts;
  const shared = {
    ...parts,
    billing: createBilling(config),
    planIds: planIdsOf(config),
    returnBase: returnBaseOf(config),
    secret: config.SECRETS_KEY,
  };
  const addons = createAddons({ ...shared, router: createModelRouter(config) });
  const events = createEvents({
    ...shared,
    webhookSecret: config.STRIPE_WEBHOOK_SECRET,
    tellRouter: addons.tellRouter,
  });

  /**
   * Chooses rupiah in Indonesia and where the country is not known, dollars elsewhere.
   * @param header reads a header of the request, which an edge in front of the service has set
   */
  function currencyAt(header: (name: string) => string | undefined): Currency {
    const country = config.BILLING_COUNTRY_HEADERS.map((name) => header(name)?.trim()).find(Boolean);
    return country === undefined || country.toUpperCase() === 'ID' ? 'IDR' : 'USD';
  }

  return {
    ...createCatalog(shared),
    ...createSubscribe(shared),
    ...createTopup({ ...shared, fx: config.BILLING_FX_USD_IDR }),
    ...events,
    ...addons,
    currencyAt,

    async wallet({ customerId }: Caller, page: { limit: number; offset: number }) {
      const { rows, total } = await wallet.list(customerId, page);
      return {
        balance_usd_micros: await wallet.balance(customerId),
        data: rows,
        meta: { ...page, total },
      };
    },
  };
}
