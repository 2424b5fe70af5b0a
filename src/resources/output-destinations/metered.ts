/** Counts attempts to deliver artifacts where they are recorded. */
import type { Meters } from '../../platform/observability/meters.ts';
import type { DestinationStore } from './store/index.ts';

const kind = 'output';

export const meteredDestinations = (
  store: DestinationStore,
  { deliveryAttempts, deliveriesGivenUp }: Pick<Meters, 'deliveryAttempts' | 'deliveriesGivenUp'>,
): DestinationStore => ({
  ...store,
  async recordDelivered(ref, withheldFrom) {
    await store.recordDelivered(ref, withheldFrom);
    deliveryAttempts.inc({ kind, outcome: 'delivered' });
  },
  async recordError(ref, error) {
    await store.recordError(ref, error);
    const { isFinal, withheldFrom } = error;
    // The delivery goes on when its recipients confirm, so it does not count as given up.
    if (withheldFrom.length > 0) return deliveryAttempts.inc({ kind, outcome: 'withheld' });
    deliveryAttempts.inc({ kind, outcome: isFinal ? 'failed' : 'to_be_repeated' });
    if (isFinal) deliveriesGivenUp.inc({ kind });
  },
  async recordExhausted(ref) {
    await store.recordExhausted(ref);
    deliveriesGivenUp.inc({ kind });
  },
});
