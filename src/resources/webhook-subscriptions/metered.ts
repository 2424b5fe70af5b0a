/** Counts attempts of webhook deliveries where they are recorded. */
import type { Meters } from '../../platform/observability/meters.ts';
import type { WebhookStore } from './store/index.ts';

const kind = 'webhook';

export const meteredWebhooks = (
  store: WebhookStore,
  { deliveryAttempts, deliveriesGivenUp }: Pick<Meters, 'deliveryAttempts' | 'deliveriesGivenUp'>,
): WebhookStore => ({
  ...store,
  async recordAttempt(ref, status, attempt) {
    await store.recordAttempt(ref, status, attempt);
    deliveryAttempts.inc({ kind, outcome: status === 'pending' ? 'to_be_repeated' : status });
    if (status === 'failed') deliveriesGivenUp.inc({ kind });
  },
  async recordExhausted(ref) {
    await store.recordExhausted(ref);
    deliveriesGivenUp.inc({ kind });
  },
});
