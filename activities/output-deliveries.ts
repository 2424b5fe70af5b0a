/**
 * Sends a finished artifact to a destination. Each call is one attempt: counted before it is made, recorded after, and
 * the error it ends with tells Temporal whether another may help.
 *
 * Nothing of the tenant's (address, content, answer) goes into an error: those live in Temporal's history.
 */
import { ApplicationFailure } from '@temporalio/common';
import type { SecretBox } from '../src/platform/core/crypto.ts';
import type { OutputDeliveryRef } from '../src/resources/output-destinations/model.ts';
import { openConfig } from '../src/resources/output-destinations/secrets.ts';
import { OutputError } from '../src/resources/output-destinations/send/output.ts';
import type { OutputSender } from '../src/resources/output-destinations/send/sender.ts';
import type { DestinationStore } from '../src/resources/output-destinations/store.ts';
import { heartbeating } from './failures.ts';

export type OutputActivities = ReturnType<typeof createOutputActivities>;

export interface OutputDependencies {
  outputs: { store: DestinationStore; secretBox: SecretBox; send: OutputSender };
}

export const createOutputActivities = ({ outputs: { store, secretBox, send } }: OutputDependencies) => ({
  /** @throws ApplicationFailure `output_not_taken`, not retryable where another attempt would not help */
  async deliverOutput(ref: OutputDeliveryRef): Promise<void> {
    const attempt = await store.startAttempt(ref);
    // It has ended meanwhile: gone with its destination, or delivered by an attempt whose report was lost.
    if (!attempt) return;
    const { destination, project, artifact } = attempt;
    try {
      if (!destination.enabled) throw new OutputError('the destination is disabled', { isFinal: true });
      const output = { deliveryId: ref.deliveryId, project, artifact };
      await heartbeating((signal) => send(openConfig(secretBox, destination), output, signal));
    } catch (error) {
      if (!(error instanceof OutputError)) throw error;
      const { message, isFinal } = error;
      await store.recordError(ref, message, isFinal);
      throw ApplicationFailure.create({
        type: 'output_not_taken',
        message: `the ${destination.kind} destination has not taken it; its log says why`,
        nonRetryable: isFinal,
      });
    }
    await store.recordDelivered(ref);
  },

  recordOutputExhausted: (ref: OutputDeliveryRef): Promise<void> => store.recordExhausted(ref),
});
