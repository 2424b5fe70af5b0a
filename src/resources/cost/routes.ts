/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import { listCaps, removeCap, setCap } from './caps/contract.ts';
import type { CapService } from './caps/service.ts';
import { forecastCost, getCostRollup } from './contract.ts';
import type { CostService } from './service.ts';

export const costRoutes = ({ cost, caps }: { cost: CostService; caps: CapService }): readonly Route[] => [
  handle(getCostRollup, ({ caller, query }) => cost.rollup(caller.customerId, query.window, query.group_by)),
  handle(forecastCost, ({ caller }) => cost.forecast(caller.customerId)),
  handle(listCaps, ({ caller }) => caps.list(caller.customerId)),
  handle(setCap, ({ caller, params, body }) =>
    caps.set(caller.customerId, params.cap_id, body.limit_usd, body.alert_at),
  ),
  handle(removeCap, ({ caller, params }) => caps.remove(caller.customerId, params.cap_id)),
];
