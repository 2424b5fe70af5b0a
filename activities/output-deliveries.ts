/**
 * Sends a finished artifact to a destination. Each call is one attempt: counted before it is made, recorded after, and
 * the error it ends with tells Temporal whether another may help.
 *
 * Nothing of the tenant's (address, content, answer) goes into an error: those live in Temporal's history.
 */
import { ApplicationFailure } from '@temporalio/common';
import type { OutputDeliveryRef } from '../src/resources/output-destinations/model.ts';
import type { SecretBox } from '../src/platform/core/crypto.ts';
import type { Log } from '../src/platform/core/log.ts';
import type { Later, WaitsForSlots } from '../src/resources/receivers/model.ts';
import type { PlaceStore } from '../src/resources/receivers/store.ts';
import { hostOf } from '../src/resources/output-destinations/host.ts';
import { openConfig } from '../src/resources/output-destinations/secrets.ts';
import type { NoticeReader } from '../src/resources/output-destinations/send/notice.ts';
import type { Deliver } from '../src/resources/output-destinations/send/delivering.ts';
import { OutputError, type DeliveredOutput } from '../src/resources/output-destinations/send/output.ts';
import type { Notice } from '../src/resources/output-destinations/send/notice.ts';
import type { DestinationStore, StartedOutput } from '../src/resources/output-destinations/store/index.ts';
import { heartbeating } from './failures.ts';
import { inItsPlace, laterForItsKey } from './place.ts';

export type OutputActivities = ReturnType<typeof createOutputActivities>;

export interface OutputDependencies {
  store: DestinationStore;
  secretBox: SecretBox;
  deliver: Deliver;
  notices: NoticeReader;
  timeoutMs: number;
  places: PlaceStore;
  log: Log;
}

export const createOutputActivities = (needs: OutputDependencies) => {
  const { store, secretBox, deliver, notices, timeoutMs, places, log } = needs;

  /** @throws OutputError where what it is about is gone */
  async function messageOf(
    { deliveryId }: OutputDeliveryRef,
    {
      destination: { customerId },
      project,
      artifact,
      isSample,
      waitId,
      notice: what,
      nth,
      revision,
      recipient,
    }: StartedOutput,
  ): Promise<DeliveredOutput | Notice> {
    if (project && artifact) return { deliveryId, project, artifact, isSample };
    const told = waitId && revision ? await notices.read({ customerId, waitId, revision, recipient }) : undefined;
    if (!told || !what) throw new OutputError('what it is about is gone', { isFinal: true });
    return { deliveryId, what, nth: nth ?? 0, revision: revision ?? 0, ...told };
  }

  async function send(ref: OutputDeliveryRef): Promise<void> {
    const attempt = await store.startAttempt(ref);
    // The delivery has ended meanwhile: it is gone with its destination, or an earlier attempt delivered it and its
    // report was lost.
    if (!attempt) return;
    const { destination, withheldFrom, recipient } = attempt;
    let withheld: string[];
    try {
      // A delivery to a paused destination is tried where somebody asks for it: anything that the destination takes
      // switches it on again.
      if (!destination.enabled && !destination.pausedAt)
        throw new OutputError('the destination is disabled', { isFinal: true });
      const message = await messageOf(ref, attempt);
      withheld = await heartbeating((cancelled) =>
        deliver(destination, message, { only: withheldFrom, recipient, cancelled }),
      );
    } catch (error) {
      if (!(error instanceof OutputError)) throw error;
      await store.recordError(ref, error);
      throw ApplicationFailure.create({
        type: 'output_not_taken',
        message: `the ${destination.kind} destination has not taken it; its log says why`,
        nonRetryable: error.isFinal,
      });
    }
    await store.recordDelivered(ref, withheld);
  }

  return {
    /**
     * @returns when to come again, where the host has no place for the delivery at the moment
     * @throws ApplicationFailure `output_not_taken`, not retryable where another attempt would not help
     */
    async deliverOutput({ mayWait, ...ref }: OutputDeliveryRef & WaitsForSlots): Promise<Later | undefined> {
      const destination = await store.loadTarget(ref);
      const sealed = destination?.sealed && mayWait ? [destination.sealed] : [];
      const later = laterForItsKey(sealed, { secretBox, deliveryId: ref.deliveryId, log });
      if (later) return later;
      const wanted = {
        host: destination && hostOf(openConfig(secretBox, destination)),
        customerId: destination?.customerId ?? '',
        deliveryId: ref.deliveryId,
        timeoutMs,
        mayWait,
      };
      return inItsPlace(places, wanted, () => send(ref));
    },

    recordOutputExhausted: (ref: OutputDeliveryRef): Promise<void> => store.recordExhausted(ref),
  };
};
