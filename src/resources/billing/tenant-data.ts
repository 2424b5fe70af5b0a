/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { SAME_TENANT, type TenantData } from '../../platform/db/tenant-data.ts';

export const billingData: TenantData = {
  wallet_ledger: {
    end: { stays: 'money: credit, and what it was spent on, outlive a workspace as its billing customer does' },
    archive: {
      columns: 'id key delta_usd_micros balance_after_usd_micros kind paid_idr_cents fx_usd_idr meta created_at',
      without: SAME_TENANT,
    },
  },
  topups: {
    end: { stays: 'payments that are under way are credited to the id that paid' },
    archive: {
      columns: 'currency charged_cents credit_usd_micros fx_usd_idr created_at completed_at',
      without: { ...SAME_TENANT, session_id: 'opens the payment at the provider' },
    },
  },
  router_keys: {
    end: { stays: 'the destruction takes the key back from the router, and its row goes then' },
    archive: { left: 'a key of this deployment, at the model router' },
  },
  billing_events: {
    end: { stays: 'of the provider: nobody is shown them' },
    archive: { left: 'of the provider: no workspace is shown them' },
  },
  billing_leases: {
    end: { stays: 'seconds' },
    archive: { left: 'seconds' },
  },
};
