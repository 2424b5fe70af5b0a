/** What of these tables is deleted when it is old. */
import { deletingOlder, type Retained } from '../../platform/db/retained.ts';

export const idempotencyKeysRetained: Retained = {
  idempotency_keys: [deletingOlder('idempotency_keys', 'created_at')],
};
