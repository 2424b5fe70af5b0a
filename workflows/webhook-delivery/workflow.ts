/**
 * One delivery: an activity that posts, and Temporal's retry policy as the schedule of its attempts.
 *
 * The activity records every attempt and the ends it knows. Only the workflow knows that no attempt is left, also
 * when the worker died in the last one; hence it alone records that. A delivery that was not taken fails here too, so
 * that the Temporal Web UI says so.
 */
import { CancellationScope, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { WebhookActivities } from '../../activities/webhooks.ts';
import { deliveryRetry } from '../../src/resources/webhook-subscriptions/model.ts';
import { records } from '../shared/activities.ts';
import type { WebhookDeliveryInput } from './messages.ts';

/** Above the receiver's own limit: reading, signing and recording. */
const MARGIN_MS = 10_000;

export async function webhookDelivery(input: WebhookDeliveryInput): Promise<void> {
  const { deliveryId, redelivery, eventType, retry, timeoutMs, split } = input;
  // Not in shared/activities.ts: the retry policy is part of the input.
  const { deliverWebhook } = proxyActivities<WebhookActivities>({
    ...(split && { taskQueue: workflowInfo().taskQueue.replace(/orchestration$/, 'webhooks') }),
    startToCloseTimeout: timeoutMs + MARGIN_MS,
    retry: deliveryRetry(retry.initialMs),
    summary: `POST ${eventType}`,
  });
  try {
    await deliverWebhook({ deliveryId, redelivery });
  } catch (error) {
    // Changes nothing where the delivery has ended already.
    await CancellationScope.nonCancellable(() => records.recordExhausted({ deliveryId, redelivery }));
    throw error;
  }
}
