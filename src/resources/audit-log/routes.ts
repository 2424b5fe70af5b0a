/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import { listAuditLog } from './contract.ts';
import type { AuditService } from './service.ts';

export const auditRoutes = ({ audit }: { audit: AuditService }): readonly Route[] => [
  handle(listAuditLog, ({ caller, query }) => audit.list(caller, query)),
];
