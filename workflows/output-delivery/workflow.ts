/**
 * Sends one artifact to one destination: an activity sends, and Temporal's retry policy is the schedule of its
 * attempts, the same as that of webhooks. The activity records every attempt and the ends it knows. Only the workflow
 * knows that no attempt is left, also when the worker died in the last one; hence it alone records that. A delivery
 * that was not taken fails here too, so that the Temporal Web UI says so.
 */
import { CancellationScope, continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { OutputActivities } from '../../activities/output-deliveries.ts';
import { deliveryRetry } from '../../src/resources/webhook-subscriptions/model.ts';
import { records } from '../shared/activities.ts';
import { untilThereIsAPlace } from '../shared/patience.ts';
import type { OutputDeliveryInput } from './messages.ts';

/** Reading, opening and recording may take this long beyond the destination's own limit. */
const MARGIN_MS = 10_000;

export async function outputDelivery(input: OutputDeliveryInput): Promise<void> {
  const { deliveryId, redelivery, kind, retry, timeoutMs, split } = input;
  // The policy is not in shared/activities.ts because it is a part of the input.
  const attemptsAfter = (made: number) =>
    proxyActivities<OutputActivities>({
      ...(split && { taskQueue: workflowInfo().taskQueue.replace(/orchestration$/, 'webhooks') }),
      startToCloseTimeout: timeoutMs + MARGIN_MS,
      heartbeatTimeout: '20s',
      retry: deliveryRetry(retry.initialMs, made),
      summary: kind,
    });
  let made: number | undefined;
  try {
    made = await untilThereIsAPlace(input.made ?? 0, (made) =>
      attemptsAfter(made).deliverOutput({ deliveryId, redelivery, mayWait: true }),
    );
  } catch (error) {
    // Where the delivery has ended already this changes nothing.
    await CancellationScope.nonCancellable(() => records.recordOutputExhausted({ deliveryId, redelivery }));
    throw error;
  }
  if (made !== undefined) await continueAsNew<typeof outputDelivery>({ ...input, made });
}
