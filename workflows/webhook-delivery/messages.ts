/** What a delivery is started with. References only: body, address and secret stay in Postgres. */
import type { DeliveryRef, WebhookEvent } from '../../src/resources/webhook-subscriptions/model.ts';

/** The workflow's type, as the server knows it. */
export const WEBHOOK_DELIVERY = 'webhookDelivery';

export interface WebhookDeliveryInput extends DeliveryRef {
  eventType: WebhookEvent;
  /** Wait before the second attempt; settings decide, so that tests need not wait. */
  retry: { initialMs: number };
  /** How long the receiver may take. */
  timeoutMs: number;
  /** Attempts of executions before this one. */
  made?: number;
  /** Activities have a queue of their own. */
  split: boolean;
}
