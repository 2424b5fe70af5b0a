/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import * as contract from './contract.ts';
import type { HeartbeatService } from './service.ts';

export const heartbeatRoutes = ({ heartbeats }: { heartbeats: HeartbeatService }): readonly Route[] => [
  handle(contract.listHeartbeats, ({ caller }) => heartbeats.list(caller)),
  handle(contract.createHeartbeat, ({ caller, body }) => heartbeats.create(caller, body)),
  handle(contract.getHeartbeat, ({ caller, params }) => heartbeats.get(caller, params.id)),
  handle(contract.updateHeartbeat, ({ caller, params, body }) => heartbeats.update(caller, params.id, body)),
  handle(contract.deleteHeartbeat, ({ caller, params }) => heartbeats.delete(caller, params.id)),
];
