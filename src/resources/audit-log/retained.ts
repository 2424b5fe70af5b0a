/** What of these tables is deleted when it is old. */
import { deletingOlder, type Retained } from '../../platform/db/retained.ts';

export const auditLogRetained: Retained = {
  audit: [deletingOlder('audit_log', 'created_at')],
};
