/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import { getRunArtifact, listRunArtifacts } from './contract.ts';
import type { RunArtifactService } from './service.ts';

export const runArtifactRoutes = ({ runArtifacts }: { runArtifacts: RunArtifactService }): readonly Route[] => [
  handle(listRunArtifacts, ({ caller, query }) => runArtifacts.list(caller.customerId, query)),
  handle(getRunArtifact, ({ caller, params }) => runArtifacts.get(caller.customerId, params.id)),
];
