/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import { createDeployToken, listDeployTokens, revokeDeployToken } from './contract.ts';
import type { DeployTokenService } from './service.ts';

export const deployTokenRoutes = ({ deployTokens }: { deployTokens: DeployTokenService }): readonly Route[] => [
  handle(listDeployTokens, ({ caller }) => deployTokens.list(caller.customerId)),
  handle(createDeployToken, ({ caller, body }) => deployTokens.create(caller, body)),
  handle(revokeDeployToken, ({ caller, params }) => deployTokens.revoke(caller.customerId, params.id)),
];
