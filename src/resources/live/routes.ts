/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import * as contract from './contract.ts';
import type { LiveService } from './service.ts';

export const liveRoutes = ({ live }: { live: LiveService }): readonly Route[] => [
  handle(contract.followWorkspace, ({ caller, query, header }) =>
    live.follow(caller, { ...query, after: header('last-event-id') ?? query.after }),
  ),
];
