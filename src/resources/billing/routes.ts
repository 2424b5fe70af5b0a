/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import {
  getAddons,
  getCatalog,
  getSummary,
  getTopupOptions,
  getWallet,
  receiveWebhook,
  setModelRouter,
  subscribe,
  topup,
} from './contract.ts';
import type { BillingService } from './service/index.ts';

const SIGNATURE_HEADER = 'stripe-signature';

export const billingRoutes = ({ billing }: { billing: BillingService }): readonly Route[] => [
  handle(getCatalog, () => billing.catalog()),
  handle(getSummary, ({ caller }) => billing.summary(caller)),
  handle(subscribe, ({ caller, body, header }) =>
    billing.subscribe(caller, body, body.currency ?? billing.currencyAt(header)),
  ),
  handle(getWallet, ({ caller, query }) => billing.wallet(caller, query)),
  handle(getTopupOptions, async () => billing.options()),
  handle(topup, ({ caller, body, header, claim }) =>
    billing.topup(caller, body, body.currency ?? billing.currencyAt(header), claim),
  ),
  handle(getAddons, ({ caller }) => billing.addons(caller)),
  handle(setModelRouter, ({ caller, body }) => billing.setModelRouter(caller, body)),
  handle(receiveWebhook, ({ rawBody, header }) =>
    billing.receiveEvent({ rawBody: rawBody!, signature: header(SIGNATURE_HEADER) }),
  ),
];
