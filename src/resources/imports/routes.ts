/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import * as contract from './contract.ts';
import type { ImportService } from './service.ts';

const named = ({ params }: { params: { identity_workspace_id: string } }) => [
  { workspaceId: params.identity_workspace_id },
];

export const importRoutes = ({ imports }: { imports: ImportService }): readonly Route[] => [
  handle(
    contract.createImport,
    ({ caller, params, body, confirmation }) =>
      imports.create(caller, params.identity_workspace_id, body, confirmation),
    named,
  ),
  handle(contract.listImports, ({ caller, params }) => imports.list(caller, params.identity_workspace_id)),
  handle(contract.getImport, ({ caller, params }) => imports.get(caller, params)),
  handle(contract.sendImportPart, ({ caller, params, file }) => imports.sendPart(caller, params, file)),
  handle(contract.startImport, ({ caller, params }) => imports.start(caller, params), named),
  handle(contract.removeImport, ({ caller, params }) => imports.remove(caller, params), named),
];
