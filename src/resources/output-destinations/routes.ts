/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import * as contract from './contract.ts';
import type { DestinationService } from './service.ts';

export const destinationRoutes = ({ destinations }: { destinations: DestinationService }): readonly Route[] => [
  handle(contract.listDestinations, ({ caller }) => destinations.list(caller)),
  handle(contract.createDestination, ({ caller, body }) => destinations.create(caller, body)),
  handle(contract.listDeliveries, ({ caller, query }) => destinations.listDeliveries(caller, query)),
  handle(contract.redeliver, ({ caller, params }) => destinations.redeliver(caller, params.id)),
  handle(contract.getDestination, ({ caller, params }) => destinations.get(caller, params.id)),
  handle(contract.updateDestination, ({ caller, params, body }) => destinations.update(caller, params.id, body)),
  handle(contract.deleteDestination, ({ caller, params }) => destinations.remove(caller, params.id)),
  handle(contract.testDestination, ({ caller, params }) => destinations.test(caller, params.id)),
];
