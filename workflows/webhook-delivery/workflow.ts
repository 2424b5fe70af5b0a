/**
 * Delivers one webhook: an activity posts, and Temporal's retry policy is the schedule of its attempts. The activity
 * records every attempt and the ends it knows. Only the workflow knows that no attempt is left, also when the worker
 * died in the last one; hence it alone records that. A delivery that was not taken fails here too, so that the Temporal
 * Web UI says so.
 */
import { CancellationScope, continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { WebhookActivities } from '../../activities/webhooks.ts';
import { deliveryRetry } from '../../src/resources/webhook-subscriptions/model.ts';
import { records } from '../shared/activities.ts';
import { untilThereIsAPlace } from '../shared/patience.ts';
import type { WebhookDeliveryInput } from './messages.ts';

/** Reading, signing and recording may take this long beyond the receiver's own limit. */
const MARGIN_MS = 10_000;

export async function webhookDelivery(input: WebhookDeliveryInput): Promise<void> {
  const { deliveryId, redelivery, eventType, retry, timeoutMs, split } = input;
  // The policy is not in shared/activities.ts because it is a part of the input.
  const attemptsAfter = (made: number) =>
    proxyActivities<WebhookActivities>({
      ...(split && { taskQueue: workflowInfo().taskQueue.replace(/orchestration$/, 'webhooks') }),
      startToCloseTimeout: timeoutMs + MARGIN_MS,
      retry: deliveryRetry(retry.initialMs, made),
      summary: `POST ${eventType}`,
    });
  let made: number | undefined;
  try {
    made = await untilThereIsAPlace(input.made ?? 0, (made) =>
      attemptsAfter(made).deliverWebhook({ deliveryId, redelivery, mayWait: true }),
    );
  } catch (error) {
    // Where the delivery has ended already this changes nothing.
    await CancellationScope.nonCancellable(() => records.recordExhausted({ deliveryId, redelivery }));
    throw error;
  }
  if (made !== undefined) await continueAsNew<typeof webhookDelivery>({ ...input, made });
}
