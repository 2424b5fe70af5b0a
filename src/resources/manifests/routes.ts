/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import * as contract from './contract.ts';
import type { ManifestService } from './service.ts';

export const manifestRoutes = ({ manifests }: { manifests: ManifestService }): readonly Route[] => [
  handle(contract.exportManifests, ({ caller }) => manifests.export(caller)),
  handle(contract.listDeployed, ({ caller }) => manifests.deployed(caller.customerId)),
  handle(contract.planManifests, ({ caller, body }) => manifests.plan(caller, body)),
  handle(contract.applyManifests, ({ caller, body }) => manifests.apply(caller, body)),
];
