/**
 * The managed model router as an add-on: a key of the workspace's own, which may spend what the wallet holds. The
 * database says whether there is one; the router is asked under a lease, so that races leave one key.
 */
import { Decimal } from 'decimal.js';
import type { SecretBox } from '../../../platform/core/crypto.ts';
import type { Log } from '../../../platform/core/log.ts';
import { Problem } from '../../../platform/core/problem.ts';
import type { Caller } from '../../../platform/http/endpoint.ts';
import type { Lease } from '../lease.ts';
import { TOPUP, USD_MICROS } from '../model.ts';
import type { ModelRouter } from '../model-router/router.ts';
import { routerKeyOwner, type RouterKeyStore } from '../model-router/store.ts';
import type { Billing } from '../provider.ts';
import type { BillingStore } from '../store.ts';
import type { WalletStore } from '../wallet/store.ts';

export interface AddonOptions {
  billing: Billing;
  store: Pick<BillingStore, 'findDeployment'>;
  wallet: Pick<WalletStore, 'balance' | 'totalToppedUp'>;
  routerKeys: RouterKeyStore;
  router: ModelRouter;
  lease: Lease;
  secretBox: SecretBox;
  /** @returns the vendor for whose models the workspace brought a key */
  modelVendorOf: (customerId: string) => Promise<string | null>;
  log: Log;
}

/** A workspace wants credit for one of these. */
export type CreditUse = 'managed_infra' | 'models_only';

const MINIMUM_USD_CENTS: Record<CreditUse, number> = {
  managed_infra: TOPUP.min_initial_usd_cents_with_managed_infra,
  models_only: TOPUP.min_initial_usd_cents_models_only,
};
const BATCH = 50;

export const createAddons = (options: AddonOptions) => {
  const { billing, store, wallet, routerKeys, router, lease, secretBox, modelVendorOf, log } = options;

  /** @returns whether enough credit was ever bought for this use, which is so wherever nothing is billed */
  const hasMinimumTopup = async (customerId: string, use: CreditUse): Promise<boolean> =>
    billing.mode === 'internal_noop' ||
    (await wallet.totalToppedUp(customerId)) >= MINIMUM_USD_CENTS[use] * (USD_MICROS / 100);

  async function addons({ customerId }: Pick<Caller, 'customerId'>) {
    const [deployment, key, kind] = [
      await store.findDeployment(customerId),
      await routerKeys.find(customerId),
      await modelVendorOf(customerId),
    ];
    return {
      deployment_status: deployment?.status ?? null,
      model_router: {
        managed: key !== undefined,
        key_hash: key?.keyHash ?? null,
        key_limit_usd: key?.limitUsd ?? null,
      },
      model_vendor: { mode: 'byo' as const, kind },
    };
  }

  async function mint(customerId: string): Promise<void> {
    const limitUsd = new Decimal(Math.max(0, await wallet.balance(customerId))).div(USD_MICROS).toFixed();
    const { key, hash } = await router.mintKey(`workspace ${customerId}`, limitUsd);
    const row = { customerId, keyHash: hash, limitUsd, sealed: secretBox.seal(key, routerKeyOwner(customerId)) };
    const revoke = () =>
      router
        .revokeKey(hash)
        .catch((err: unknown) =>
          log.error(
            { err, key_hash: hash },
            'a key could not be deleted at the model router: delete it there by its hash',
          ),
        );
    const isKept = await routerKeys.insert(row).catch(async (error: unknown) => {
      await revoke();
      throw error;
    });
    if (!isKept) await revoke();
  }

  /** Tells the router of limits that grew. What fails is told with the next event, or by housekeeping. */
  async function tellRouter(signal?: AbortSignal): Promise<void> {
    for (const row of await routerKeys.listUntold(BATCH)) {
      if (signal?.aborted) return;
      try {
        await router.setLimit(row.keyHash, row.limitUsd);
        await routerKeys.recordTold(row);
      } catch (err) {
        log.warn({ err, customer_id: row.customerId }, 'the model router was not told of a new limit');
      }
    }
  }

  return {
    addons,
    hasMinimumTopup,
    tellRouter,

    /**
     * @throws Problem no_deployment_for_customer, addon_requires_ready_deployment, insufficient_credit,
     *   billing_change_in_progress, billing_provider_failed
     */
    async setModelRouter({ customerId }: Caller, { enabled }: { enabled: boolean }) {
      const deployment = await store.findDeployment(customerId);
      if (!deployment) throw new Problem('no_deployment_for_customer');
      if (enabled && deployment.status !== 'ready') throw new Problem('addon_requires_ready_deployment');
      if (enabled && !(await hasMinimumTopup(customerId, 'models_only'))) throw new Problem('insufficient_credit');
      await lease(customerId, async () => {
        const key = await routerKeys.find(customerId);
        if (enabled && !key) return mint(customerId);
        if (enabled || !key) return;
        // The order matters: a crash between the two is made good by the next try, and the key opens nothing meanwhile.
        await router.revokeKey(key.keyHash);
        await routerKeys.remove(customerId, key.keyHash);
      });
      return addons({ customerId });
    },
  };
};
