/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import { namedWorkspace } from '../../platform/http/own-workspace.ts';
import * as contract from './contract.ts';
import type { WorkspaceService } from './service.ts';

export const workspaceRoutes = ({ workspaces }: { workspaces: WorkspaceService }): readonly Route[] => [
  handle(contract.listWorkspaces, ({ caller }) => workspaces.list(caller)),
  handle(
    contract.createWorkspace,
    ({ caller, body }) => workspaces.create(caller, body),
    ({ body }) => [{ workspaceId: body.identity_workspace_id, isNew: true }],
  ),
  handle(contract.getWorkspace, ({ caller, params }) => workspaces.get(caller, params.identity_workspace_id)),
  handle(
    contract.retryWorkspace,
    ({ caller, params }) => workspaces.retry(caller, params.identity_workspace_id),
    namedWorkspace,
  ),
  handle(
    contract.setWorkspaceState,
    ({ params, body }) => workspaces.setState(params.identity_workspace_id, body),
    namedWorkspace,
  ),
  handle(
    contract.destroyWorkspace,
    ({ caller, params }) => workspaces.destroy(caller, params.identity_workspace_id),
    namedWorkspace,
  ),
];
