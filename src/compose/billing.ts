/** Makes plans, wallets and what is charged to them. */
import { createLease } from '../resources/billing/lease.ts';
import { createBillingService } from '../resources/billing/service/index.ts';
import { createBillingStore } from '../resources/billing/store.ts';
import { createMetering } from '../resources/billing/wallet/metering.ts';
import { createWalletStore } from '../resources/billing/wallet/store.ts';
import type { Runtime } from '../runtime.ts';
import type { Integrations } from './integrations.ts';
import type { Platform } from './platform.ts';

export type BillingServices = ReturnType<typeof composeBilling>;

export function composeBilling(
  { config, log, db }: Runtime,
  { secretBox }: Platform,
  { routerKeys, modelVendorOf }: Integrations,
) {
  const wallets = createWalletStore(db);
  return {
    stores: { wallets },
    billing: createBillingService({
      config,
      store: createBillingStore(db),
      wallet: wallets,
      routerKeys,
      lease: createLease(db),
      secretBox,
      modelVendorOf,
      log,
    }),
    metering: createMetering(db),
    /** A workspace is charged for models of the deployment only in live billing. */
    tariffOf: config.BILLING_MODE === 'live' ? wallets.tariffOf : async () => undefined,
  };
}
