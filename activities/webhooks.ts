/**
 * Posts a webhook. Each call is one attempt: counted before it is made, recorded after, and the error it ends with
 * tells Temporal whether another may help.
 *
 * Nothing of the tenant's (address, body, answer) goes into an error: those live in Temporal's history.
 */
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { rootInWords } from '../src/platform/core/causes.ts';
import type { SecretBox } from '../src/platform/core/crypto.ts';
import type { Log } from '../src/platform/core/log.ts';
import { ForbiddenAddressError, type GuardedFetch } from '../src/platform/egress/egress.ts';
import { bodyLimitIn } from '../src/platform/egress/limits.ts';
import { readBeginning } from '../src/platform/egress/read-capped.ts';
import { cursorOf } from '../src/resources/event-log/model.ts';
import type { Later, WaitsForSlots } from '../src/resources/receivers/model.ts';
import type { PlaceStore } from '../src/resources/receivers/store.ts';
import { statusAfter, type DeliveryRef } from '../src/resources/webhook-subscriptions/model.ts';
import { secretOwner } from '../src/resources/webhook-subscriptions/store/endpoints.ts';
import { signWebhook } from '../src/resources/webhook-subscriptions/signature.ts';
import type {
  SigningSecrets,
  StartedAttempt,
  WebhookStore,
} from '../src/resources/webhook-subscriptions/store/index.ts';
import { inItsPlace, laterForItsKey } from './place.ts';

const EXCERPT_BYTES = 1_024;
const ERROR_CHARS = 500;

export type WebhookActivities = ReturnType<typeof createWebhookActivities>;

export interface WebhookDependencies {
  store: WebhookStore;
  secretBox: SecretBox;
  fetch: GuardedFetch;
  places: PlaceStore;
  log: Pick<Log, 'error'>;
  /** A receiver may take this long. */
  timeoutMs: number;
  /** @returns Unix milliseconds */
  now?: () => number;
}

export const createWebhookActivities = ({
  store,
  secretBox,
  fetch,
  places,
  log,
  timeoutMs,
  now = Date.now,
}: WebhookDependencies) => {
  /** @returns all secrets that are in force, the current one first */
  const sealedIn = ({ sealedSecret, sealedPreviousSecret }: SigningSecrets): string[] =>
    [sealedSecret, sealedPreviousSecret].filter((sealed) => sealed !== null);

  function secretsOf(attempt: SigningSecrets): string[] {
    const owner = secretOwner(attempt.customerId, attempt.subscriptionId);
    return sealedIn(attempt).map((sealed) => secretBox.open(sealed, owner));
  }

  async function post(attempt: StartedAttempt & { deliveryId: string }, atMs: number): Promise<Answer> {
    const { url, eventType, eventKey, body, place, deliveryId } = attempt;
    const signature = signWebhook(secretsOf(attempt), body, Math.floor(atMs / 1000));
    const { cancellationSignal } = Context.current();
    try {
      const headers = {
        'content-type': 'application/json',
        'x-service-event': eventType,
        // What is told, by a name that is the same for all endpoints that are told of it.
        'x-service-event-id': eventKey,
        // It is the same in each attempt, so that a receiver can tell a repeat by it, and find it in the log.
        'x-service-delivery': deliveryId,
        'x-service-signature': signature,
        // The header gives the event's own place in the order of the workspace: who follows the stream goes on after
        // what this delivery tells.
        ...(place && { 'x-service-event-cursor': cursorOf(place) }),
      };
      const response = await fetch(
        url,
        // A redirect is an answer, and not 2xx: the tenant registered this address and no other.
        { method: 'POST', headers, body, redirect: 'manual', signal: cancellationSignal },
        { totalMs: timeoutMs, raisedBy: { time: 'WEBHOOK_TIMEOUT' } },
      );
      return { statusCode: response.status, error: null, responseExcerpt: await excerptOf(response) };
    } catch (error) {
      let reason = describe(error);
      if (bodyLimitIn(error)?.limit === 'time') reason = `no answer within ${timeoutMs} ms`;
      else if (cancellationSignal.aborted) reason = 'the worker stopped';
      return {
        statusCode: null,
        error: reason,
        responseExcerpt: null,
        isForbidden: error instanceof ForbiddenAddressError,
      };
    }
  }

  async function attempt(ref: DeliveryRef): Promise<void> {
    const started = await store.startAttempt(ref);
    // The delivery has ended meanwhile: it was dropped with its endpoint, or an earlier attempt delivered it and its
    // report was lost.
    if (!started) return;

    const startedMs = now();
    const { isForbidden, ...answer } = await post({ ...started, deliveryId: ref.deliveryId }, startedMs);
    const status = isForbidden ? 'failed' : statusAfter(answer.statusCode);
    await store.recordAttempt(ref, status, {
      attempt: started.number,
      ts: new Date(startedMs),
      durationMs: Math.round(now() - startedMs),
      ...answer,
    });
    if (status === 'delivered') return;
    throw ApplicationFailure.create({
      type: 'webhook_not_taken',
      message: answer.statusCode === null ? 'no answer' : `the receiver answered ${answer.statusCode}`,
      nonRetryable: status === 'failed',
    });
  }

  return {
    /**
     * @returns when to come again, where the host has no place for the delivery at the moment
     * @throws ApplicationFailure `webhook_not_taken`, not retryable where another attempt would not help
     */
    async deliverWebhook({ mayWait, ...ref }: DeliveryRef & WaitsForSlots): Promise<Later | undefined> {
      const target = await store.loadTarget(ref);
      const sealed = target && mayWait ? sealedIn(target) : [];
      const later = laterForItsKey(sealed, { secretBox, deliveryId: ref.deliveryId, log });
      if (later) return later;
      const wanted = {
        host: target && new URL(target.url).host,
        customerId: target?.customerId ?? '',
        deliveryId: ref.deliveryId,
        timeoutMs,
        mayWait,
      };
      return inItsPlace(places, wanted, () => attempt(ref));
    },

    recordExhausted: (ref: DeliveryRef): Promise<void> => store.recordExhausted(ref),
  };
};

interface Answer {
  statusCode: number | null;
  error: string | null;
  responseExcerpt: string | null;
  /** The address names, or resolves to, one that nothing here may reach. */
  isForbidden?: boolean;
}

/**
 * @returns the part that came before the limit, the deadline or a broken connection, none of which is a reason to doubt
 * the status
 */
async function excerptOf(response: Response): Promise<string> {
  const { bytes } = await readBeginning(response, EXCERPT_BYTES);
  // The decoder is told that more may follow, so that a character cut in two at the end is left out. Postgres text
  // cannot hold NUL.
  return new TextDecoder().decode(bytes, { stream: true }).replaceAll('\0', '\uFFFD');
}

const describe = (error: unknown): string => rootInWords(error).slice(0, ERROR_CHARS) || String(error);
