/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import { createApiKey, listApiKeys, revokeApiKey } from './contract.ts';
import type { ApiKeyService } from './service.ts';

export const apiKeyRoutes = ({ apiKeys }: { apiKeys: ApiKeyService }): readonly Route[] => [
  handle(listApiKeys, ({ caller }) => apiKeys.list(caller.customerId)),
  handle(createApiKey, ({ caller, body }) => apiKeys.create(caller.customerId, body, caller.actor)),
  handle(revokeApiKey, ({ caller, params }) => apiKeys.revoke(caller.customerId, params.id)),
];
