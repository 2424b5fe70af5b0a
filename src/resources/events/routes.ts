/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import * as contract from './contract.ts';
import type { EventService } from './service.ts';

export const eventRoutes = ({ events }: { events: EventService }): readonly Route[] => [
  handle(contract.listProjectEvents, ({ caller, query }) => events.list(caller, query)),
];
