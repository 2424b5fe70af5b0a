/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import { deleteFlag, listFlags, putFlag } from './contract.ts';
import type { FlagService } from './service.ts';

export const flagRoutes = ({ flags }: { flags: FlagService }): readonly Route[] => [
  handle(listFlags, ({ caller }) => flags.list(caller)),
  handle(
    putFlag,
    ({ caller, params, body }) => flags.put(caller, params.name, body),
    ({ params, body }) => flags.concerned(params.name, body),
  ),
  handle(
    deleteFlag,
    ({ params }) => flags.delete(params.name),
    ({ params }) => flags.concerned(params.name, { workspaces: {} }),
  ),
];
