/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import * as contract from './contract.ts';
import * as graph from './graph/contract.ts';
import type { MemoryService } from './service.ts';

export const memoryRoutes = ({ memory }: { memory: MemoryService }): readonly Route[] => [
  handle(contract.memoryStats, ({ caller }) => memory.stats(caller.customerId)),
  handle(contract.listEntries, ({ caller, query }) => memory.list(caller, query)),
  handle(contract.getEntry, ({ caller, params }) => memory.get(caller, params.entry_id)),
  handle(contract.createEntry, ({ caller, body }) => memory.create(caller.customerId, body)),
  handle(contract.updateEntry, ({ caller, params, body, confirmation }) =>
    memory.update(caller, params.entry_id, body, confirmation),
  ),
  handle(contract.deleteEntry, ({ caller, params, confirmation }) =>
    memory.delete(caller, params.entry_id, confirmation),
  ),
  handle(contract.bulkDeleteEntries, ({ caller, body, confirmation }) =>
    memory.bulkDelete(caller, body.ids, confirmation),
  ),
  handle(contract.verifyEntry, ({ caller, params }) => memory.verify(caller.customerId, params.entry_id)),
  handle(contract.supersedeEntry, ({ caller, params, body }) =>
    memory.supersede(caller.customerId, params.entry_id, body),
  ),
  handle(graph.listLinks, ({ caller, params }) => memory.links(caller.customerId, params.entry_id)),
  handle(graph.memoryGraph, ({ caller, query }) => memory.graph(caller.customerId, query)),
];
