/** Charges for managed infrastructure, a batch of workspaces at a time. */
import type { BillingMode } from '../src/resources/billing/model.ts';
import type { Metering } from '../src/resources/billing/wallet/metering.ts';
import { heartbeating } from './failures.ts';

export interface MeteringDependencies {
  metering: Metering;
  settings: { BILLING_MODE: BillingMode };
}

const BATCH = 200;

export const createMeteringActivities = ({ metering, settings }: MeteringDependencies) => ({
  chargeInfrastructure: (): Promise<void> =>
    heartbeating(async () => {
      // A process with another setting may have asked for it.
      if (settings.BILLING_MODE !== 'live') return;
      await metering.follow();
      while ((await metering.charge(BATCH)) === BATCH);
    }),
});
