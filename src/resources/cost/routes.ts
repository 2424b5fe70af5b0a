/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import { getCostRollup } from './contract.ts';
import type { CostService } from './service.ts';

export const costRoutes = ({ cost }: { cost: CostService }): readonly Route[] => [
  handle(getCostRollup, ({ caller, query }) => cost.rollup(caller.customerId, query.window, query.group_by)),
];
