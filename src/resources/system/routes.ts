/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import { getHealth, getInfo, reload } from './contract.ts';
import type { SystemService } from './service.ts';

export const systemRoutes = ({ system }: { system: SystemService }): readonly Route[] => [
  handle(getHealth, () => system.health()),
  handle(getInfo, ({ caller }) => system.info(caller)),
  handle(reload, async ({ body }) => system.reload(body)),
];
