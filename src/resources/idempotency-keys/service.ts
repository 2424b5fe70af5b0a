/** Answers a request that may be repeated once: how a key is claimed, waited for, and let go. */
import type { SecretBox } from '../../platform/core/crypto.ts';
import { newUuid } from '../../platform/core/ids.ts';
import type { Log } from '../../platform/core/log.ts';
import { Problem } from '../../platform/core/problem.ts';
import type { Claim, KeptAnswer, OnceOnly, RepeatableRequest } from '../../platform/http/once-only.ts';
import { ClaimLostError, LEASE_MS, type IdempotencyKeyStore } from './store.ts';

interface IdempotencyDependencies {
  store: IdempotencyKeyStore;
  secretBox: Pick<SecretBox, 'seal' | 'open'>;
  log: Log;
}

const FIRST_LOOK_MS = 25;
const LONGEST_BETWEEN_MS = 500;
/** A request waits this long for another one with its key, which is longer than any answer of the service takes. */
const PATIENCE_MS = 30_000;
const RENEWALS_A_LEASE = 3;

export const createOnceOnly = ({ store, secretBox, log }: IdempotencyDependencies): OnceOnly => {
  const ownerOf = ({ customerId, endpoint, keyHash }: RepeatableRequest) =>
    `${customerId}/idempotency_keys/${endpoint}/${keyHash}`;

  async function claimOf(request: RepeatableRequest): Promise<Claim | undefined> {
    const owner = newUuid();
    const taken = await store.take(request, { token: newUuid(), owner });
    if (!taken) return undefined;
    const { customerId, endpoint, keyHash } = request;
    const { token, made, tries } = taken;
    return { customerId, endpoint, keyHash, owner, token, made, isRepeated: tries > 1 };
  }

  /** @returns undefined while the first request is under way @throws Problem idempotency_key_reused */
  async function answerBefore(request: RepeatableRequest): Promise<KeptAnswer | undefined> {
    const row = await store.find(request);
    if (!row) return undefined;
    const isOfOther = row.caller !== null && row.caller !== request.caller;
    if (isOfOther || row.requestHash !== request.requestHash) throw new Problem('idempotency_key_reused');
    if (row.answer === null) return undefined;
    try {
      return { body: secretBox.open(row.answer, ownerOf(request)), isReplayed: true };
    } catch (err) {
      log.warn(
        { err, endpoint: request.endpoint },
        'a stored answer cannot be opened; the answer is made again from what the request created',
      );
      await store.forgetAnswer(request, row.answer);
      return undefined;
    }
  }

  /** It never throws: what was done is done, and whoever asks next finds out what a row does not say. */
  const note = (what: Promise<void>): Promise<void> =>
    what.catch((err: unknown) => log.warn({ err }, 'the row of an idempotency key could not be updated'));

  async function attempt(claim: Claim, request: RepeatableRequest, work: (claim: Claim) => Promise<unknown>) {
    const timer = setInterval(() => void note(store.renew(claim)), LEASE_MS / RENEWALS_A_LEASE).unref();
    try {
      const body = JSON.stringify(await work(claim));
      await note(store.keepAnswer(claim, secretBox.seal(body, ownerOf(request))));
      return { body, isReplayed: false };
    } catch (error) {
      // A refused request has made nothing; of any other failure nobody can tell.
      const isRefused = error instanceof Problem && error.status < 500;
      await note(isRefused ? store.release(claim) : store.giveUp(claim));
      throw error;
    } finally {
      clearInterval(timer);
    }
  }

  return async (request, listener, work) => {
    const patientUntil = performance.now() + PATIENCE_MS;
    for (let pauseMs = FIRST_LOOK_MS; ; pauseMs = Math.min(pauseMs * 1.5, LONGEST_BETWEEN_MS)) {
      const claim = await claimOf(request);
      if (claim) {
        try {
          return await attempt(claim, request, work);
        } catch (error) {
          if (!(error instanceof ClaimLostError)) throw error;
        }
      }
      const before = await answerBefore(request);
      if (before) return before;
      if (listener.closed || performance.now() > patientUntil) {
        throw new Problem('request_timeout', 'the first request with this Idempotency-Key is still under way');
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  };
};
