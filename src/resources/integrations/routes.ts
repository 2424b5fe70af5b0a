/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import {
  deleteCredential,
  deleteSecret,
  getIntegration,
  listIntegrations,
  setCredential,
  setSecret,
} from './contract.ts';
import type { IntegrationService } from './service.ts';

const named = ({ customer_id: customerId }: { customer_id?: string | undefined }) =>
  customerId === undefined ? [] : [{ customerId }];

export const integrationRoutes = ({ integrations }: { integrations: IntegrationService }): readonly Route[] => [
  handle(listIntegrations, ({ caller }) => integrations.list(caller)),
  handle(getIntegration, ({ caller, params }) => integrations.get(caller, params.slug)),
  handle(
    setCredential,
    ({ caller, params, body, confirmation }) => integrations.setToken(caller, confirmation, params, body),
    ({ body }) => named(body),
  ),
  handle(
    deleteCredential,
    ({ caller, params, query, confirmation }) => integrations.deleteToken(caller, confirmation, params, query),
    ({ query }) => named(query),
  ),
  handle(setSecret, ({ caller, params, body, confirmation }) =>
    integrations.setSecret(caller, confirmation, params, body.value),
  ),
  handle(deleteSecret, ({ caller, params, confirmation }) => integrations.deleteSecret(caller, confirmation, params)),
];
