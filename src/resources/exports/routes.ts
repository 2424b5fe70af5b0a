/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import { namedWorkspace } from '../../platform/http/own-workspace.ts';
import * as contract from './contract.ts';
import type { ExportService } from './service.ts';

export const exportRoutes = ({ exports }: { exports: ExportService }): readonly Route[] => [
  handle(
    contract.createExport,
    ({ caller, params, confirmation }) => exports.create(caller, params.identity_workspace_id, confirmation),
    namedWorkspace,
  ),
  handle(contract.listExports, ({ caller, params }) => exports.list(caller, params.identity_workspace_id)),
  handle(contract.getExport, ({ caller, params }) => exports.get(caller, params)),
  handle(contract.downloadExport, ({ caller, params }) => exports.download(caller, params), namedWorkspace),
  handle(contract.removeExport, ({ caller, params }) => exports.remove(caller, params), namedWorkspace),
];
