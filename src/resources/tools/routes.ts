/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import { createTool, deleteTool, getTool, listMcpServers, listTools, updateTool } from './contract.ts';
import type { ToolService } from './service.ts';

export const toolRoutes = ({ customTools }: { customTools: ToolService }): readonly Route[] => [
  handle(listTools, ({ caller }) => customTools.list(caller.customerId)),
  handle(listMcpServers, ({ caller }) => customTools.listMcpServers(caller.customerId)),
  handle(getTool, ({ caller, params }) => customTools.detail(caller.customerId, params.slug)),
  handle(createTool, ({ caller, body }) => customTools.create(caller.customerId, body)),
  handle(updateTool, ({ caller, params, body }) => customTools.update(caller.customerId, params.slug, body)),
  handle(deleteTool, ({ caller, params, query }) => customTools.delete(caller.customerId, params.slug, query.force)),
];
