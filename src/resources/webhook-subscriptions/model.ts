/** Words and rules of outbound webhooks. The delivery workflow uses them too, so nothing here asks the world. */
export const WEBHOOK_EVENTS = ['run.succeeded', 'run.failed', 'project.completed'] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** This subscribes to every event, also to those of later versions. */
export const ALL_EVENTS = '*';
export const isSubscribable = (name: string): boolean =>
  name === ALL_EVENTS || (WEBHOOK_EVENTS as readonly string[]).includes(name);

/**
 * - `pending`: waits for an attempt
 * - `delivered`: a receiver answered 2xx
 * - `failed`: an answer that no retry would change (a 4xx other than 429, a forbidden address)
 * - `exhausted`: no attempts are left, none was taken
 * - `dropped`: its endpoint was deleted
 */
export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'exhausted', 'dropped'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

export const MAX_ATTEMPTS = 8;
const MAX_RETRY_INTERVAL_MS = 3_600_000;

/**
 * Doubles from `initialMs` up to an hour, eight attempts in all. The shape is Temporal's `RetryPolicy`.
 * @param made attempts that were made before
 */
export const deliveryRetry = (initialMs: number, made = 0) => ({
  initialInterval: Math.min(initialMs * 2 ** made, MAX_RETRY_INTERVAL_MS),
  backoffCoefficient: 2,
  maximumInterval: MAX_RETRY_INTERVAL_MS,
  maximumAttempts: Math.max(1, MAX_ATTEMPTS - made),
});

/** @param statusCode what the receiver answered; null where no answer came */
export const statusAfter = (statusCode: number | null): Extract<DeliveryStatus, 'delivered' | 'failed' | 'pending'> => {
  if (statusCode === null || statusCode === 429 || statusCode >= 500) return 'pending';
  return statusCode >= 200 && statusCode < 300 ? 'delivered' : 'failed';
};

/** An endpoint that has taken nothing for this long is paused. */
export const PAUSE_AFTER_MS = 3 * 24 * 3_600_000;

/** The secret before a rotation signs along for this long. */
export const PREVIOUS_SECRET_TTL_MS = 24 * 3_600_000;

/** One sending of a delivery. Whoever asks for it again gets the next number, and the sending before it has no say any more. */
export interface DeliveryRef {
  deliveryId: string;
  /** The first sending has 0. */
  redelivery: number;
}

export const deliveryWorkflowId = (deliveryId: string, redelivery = 0): string =>
  redelivery === 0 ? `webhook-${deliveryId}` : `webhook-${deliveryId}-${redelivery}`;
