/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import * as contract from './contract.ts';
import type { SearchService } from './service.ts';

export const searchRoutes = ({ search }: { search: SearchService }): readonly Route[] => [
  handle(contract.search, ({ caller, query }) => search.find(caller.customerId, query)),
];
