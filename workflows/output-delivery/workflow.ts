/**
 * One artifact to one destination: an activity that sends, and Temporal's retry policy as the schedule of its attempts,
 * which is that of webhooks.
 *
 * The activity records every attempt and the ends it knows. Only the workflow knows that no attempt is left, also when
 * the worker died in the last one; hence it alone records that. A delivery that was not taken fails here too, so that the
 * Temporal Web UI says so.
 */
import { CancellationScope, continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { OutputActivities } from '../../activities/output-deliveries.ts';
import { deliveryRetry } from '../../src/resources/webhook-subscriptions/model.ts';
import { records } from '../shared/activities.ts';
import { untilThereIsAPlace } from '../shared/patience.ts';
import type { OutputDeliveryInput } from './messages.ts';

/** Above the destination's own limit: reading, opening and recording. */
const MARGIN_MS = 10_000;

export async function outputDelivery(input: OutputDeliveryInput): Promise<void> {
  const { deliveryId, redelivery, kind, retry, timeoutMs, split } = input;
  // Not in shared/activities.ts: the retry policy is part of the input.
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
    // Changes nothing where the delivery has ended already.
    await CancellationScope.nonCancellable(() => records.recordOutputExhausted({ deliveryId, redelivery }));
    throw error;
  }
  if (made !== undefined) await continueAsNew<typeof outputDelivery>({ ...input, made });
}
