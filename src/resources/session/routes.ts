/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import { getSession } from './contract.ts';
import type { SessionService } from './service.ts';

export const sessionRoutes = ({ session }: { session: SessionService }): readonly Route[] => [
  handle(getSession, ({ caller }) => session.get(caller)),
];
