/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import { listCustomers } from './contract.ts';
import type { CustomerService } from './service.ts';

export const customerRoutes = ({ customers }: { customers: CustomerService }): readonly Route[] => [
  handle(listCustomers, ({ caller, query }) => customers.list(caller, query)),
];
