/** The start of a delivery. It carries references only: body, address and secret stay in Postgres. */
import type { DeliveryRef, WebhookEvent } from '../../src/resources/webhook-subscriptions/model.ts';

/** The server knows the workflow by this type. */
export const WEBHOOK_DELIVERY = 'webhookDelivery';

export interface WebhookDeliveryInput extends DeliveryRef {
  eventType: WebhookEvent;
  /** The wait before the second attempt. Settings decide it, so that tests need not wait. */
  retry: { initialMs: number };
  /** The receiver may take this long. */
  timeoutMs: number;
  /** Earlier executions of the delivery made so many attempts. */
  made?: number;
  /** Says that activities have a queue of their own. */
  split: boolean;
}
