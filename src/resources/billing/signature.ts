/**
 * Checks that an event is the provider's: it has a signature over the bytes as they came, no older than five minutes.
 */
import { JsonDepthError, parseJson } from '../../platform/core/json.ts';
import { present } from '../../platform/core/present.ts';
import { Problem } from '../../platform/core/problem.ts';
import { fieldsOf, isRecord } from '../../platform/core/record.ts';
import { storable } from '../../platform/core/storable.ts';

const TOLERANCE_S = 300;

/** Every event has these; the rest depends on its type. */
export interface BillingEvent {
  id: string;
  type: string;
  /** Unix seconds. */
  created: number;
  /** The object that the event is about. */
  object: Record<string, unknown>;
  payload: Record<string, unknown>;
}

export interface SignedBytes {
  rawBody: Buffer;
  signature: string | undefined;
}

/** @throws Problem invalid_signature, bad_request */
export async function readEvent(
  secret: string | undefined,
  { rawBody, signature }: SignedBytes,
): Promise<BillingEvent> {
  if (!secret || !signature) throw new Problem('invalid_signature');
  const { default: Stripe } = await import('stripe');
  try {
    present(Stripe.webhooks.signature).verifyHeader(rawBody, signature, secret, TOLERANCE_S);
  } catch {
    throw new Problem('invalid_signature');
  }
  return asEvent(rawBody.toString('utf8'));
}

/** The text is signed, so only the provider's own mistake can make this throw. */
function asEvent(text: string): BillingEvent {
  let payload: Record<string, unknown>;
  try {
    payload = storable(parseJson(text)) as Record<string, unknown>;
  } catch (error) {
    throw error instanceof JsonDepthError ? new Problem('bad_request', error.message) : new Problem('invalid_json');
  }
  const { id, type, created, data } = payload ?? {};
  const object = fieldsOf(data).object;
  const isEvent = typeof id === 'string' && id !== '' && typeof type === 'string';
  if (!isEvent || !isRecord(object)) throw new Problem('bad_request', 'the body is not an event');
  return { id, type, created: Number(created) || 0, object, payload };
}
