/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import { namedWorkspace } from '../../platform/http/own-workspace.ts';
import * as contract from './contract.ts';
import type { ImportService } from './service.ts';

export const importRoutes = ({ imports }: { imports: ImportService }): readonly Route[] => [
  handle(
    contract.createImport,
    ({ caller, params, body, confirmation }) =>
      imports.create(caller, params.identity_workspace_id, body, confirmation),
    namedWorkspace,
  ),
  handle(contract.listImports, ({ caller, params }) => imports.list(caller, params.identity_workspace_id)),
  handle(contract.getImport, ({ caller, params }) => imports.get(caller, params)),
  handle(contract.sendImportPart, ({ caller, params, file }) => imports.sendPart(caller, params, file)),
  handle(contract.startImport, ({ caller, params }) => imports.start(caller, params), namedWorkspace),
  handle(contract.removeImport, ({ caller, params }) => imports.remove(caller, params), namedWorkspace),
];
