/**
 * `Idempotency-Key`: a request that comes again is answered again, and done once. This file says what a request with a
 * key is, and what its handler sees of it; `resources/idempotency-keys` keeps the answers.
 */
import type { Request } from 'express';
import { actorKey } from '../core/actor.ts';
import { sha256 } from '../core/crypto.ts';
import { Problem } from '../core/problem.ts';

export const KEY_HEADER = 'idempotency-key';
export const REPLAYED_HEADER = 'idempotency-replayed';
export const MAX_KEY_LENGTH = 255;

/** A key tells requests of one workspace to one endpoint apart. */
export interface RepeatableRequest {
  customerId: string;
  /** The id of the endpoint. */
  endpoint: string;
  keyHash: string;
  /** Whose key it is: nobody else is given the answer that it stands for. */
  caller: string;
  /** A hash of everything the caller asked for: path parameters, query and body. */
  requestHash: string;
}

/** One try to do what a request with a key asks for. */
export interface Claim extends Pick<RepeatableRequest, 'customerId' | 'endpoint' | 'keyHash'> {
  /** It names this try alone. */
  owner: string;
  /** It is the same in every try, for other services that recognize a repeat by a word. */
  token: string;
  /** The id of what an earlier try made, which may be gone again. */
  made: string | null;
  /** An earlier try died, or failed for a reason of its own; what it was to do may have been done. */
  isRepeated: boolean;
}

export interface KeptAnswer {
  /** JSON of the endpoint's one reply of success. */
  body: string;
  /** The answer was given before. */
  isReplayed: boolean;
}

/**
 * Gives the answer that was given before, waits for a try that is under way, or has the work done.
 * @param listener nobody waits for the answer once it is closed
 * @param work its result is the body of the reply
 * @throws Problem idempotency_key_reused, request_timeout
 */
export type OnceOnly = (
  request: RepeatableRequest,
  listener: { closed: boolean },
  work: (claim: Claim) => Promise<unknown>,
) => Promise<KeptAnswer>;

/**
 * @returns undefined of a request without a key, and of one to an endpoint that takes none
 * @throws Problem validation for a key that is none
 */
export function repeatableRequest(
  { id, idempotent }: { id: string; idempotent?: true },
  request: Pick<Request, 'get'>,
  { caller, confirmation }: { caller: { customerId: string; actor: string }; confirmation: { bodyHash: string } },
): RepeatableRequest | undefined {
  const key = idempotent && request.get(KEY_HEADER)?.trim();
  if (key === undefined) return undefined;
  if (key === '' || key.length > MAX_KEY_LENGTH || !/^[\x20-\x7e]+$/.test(key)) {
    const msg = `must have 1 to ${MAX_KEY_LENGTH} characters of ASCII`;
    throw new Problem('validation', [{ loc: ['header', 'Idempotency-Key'], msg, type: 'idempotency_key' }]);
  }
  return {
    customerId: caller.customerId,
    endpoint: id,
    keyHash: sha256(key),
    caller: actorKey(caller.actor),
    requestHash: confirmation.bodyHash,
  };
}
