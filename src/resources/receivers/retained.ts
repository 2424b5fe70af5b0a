/** What of these tables is deleted when it is old. */
import { deletingOlder, type Retained } from '../../platform/db/retained.ts';

export const receiversRetained: Retained = {
  deliveries: [deletingOlder('delivery_slots', 'held_until')],
};
