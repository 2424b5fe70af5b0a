/**
 * Verifies webhooks of the service for a receiver. The signature is over the raw bytes: a body that was parsed and
 * written again no longer fits it.
 */
import { AosError } from './errors.ts';

/**
 * The content of a delivery. Deliveries may be repeated and come in any order; `data.run_id` or `data.project_id` tells
 * what each is about.
 */
export type WebhookEvent =
  | { type: 'run.succeeded' | 'run.failed'; created_at: number; data: RunOutcome }
  | { type: 'project.completed'; created_at: number; data: { project_id: string } & Record<string, unknown> };

export interface RunOutcome {
  run_id: string;
  agent: string | null;
  status: 'succeeded' | 'failed' | 'cancelled';
  output: string | null;
  [field: string]: unknown;
}

export interface WebhookRequest {
  /**
   * The secret of the endpoint, as it was shown when the endpoint was made. Give both while a secret is being replaced.
   */
  secret: string | readonly string[];
  /** The value of `X-Service-Signature`. */
  header: string | null | undefined;
  /** The raw bytes of the body, or the text that they are. */
  body: string | Uint8Array;
  /** How old a signature may be, and how far its clock may be ahead. */
  toleranceSeconds?: number;
  /** In Unix seconds. Where it is left out, the present time is taken. */
  now?: number;
}

export type WebhookRefusal = 'missing_header' | 'malformed_header' | 'too_old' | 'too_new' | 'no_match' | 'not_json';

/** The request cannot be trusted. Answer it with 400. */
export class WebhookVerificationError extends AosError {
  override name = 'WebhookVerificationError';
  readonly reason: WebhookRefusal;
  constructor(reason: WebhookRefusal, message: string) {
    super(message);
    this.reason = reason;
  }
}

const TOLERANCE_SECONDS = 300;
/** During a rotation two secrets sign; a header with many more signatures does not come from the service. */
const MAX_SIGNATURES = 10;

/**
 * @returns the parsed body
 * @throws WebhookVerificationError
 */
export async function verifyWebhook<Payload = WebhookEvent>({
  secret,
  header,
  body,
  toleranceSeconds = TOLERANCE_SECONDS,
  now = Date.now() / 1_000,
}: WebhookRequest): Promise<Payload> {
  if (!header) throw new WebhookVerificationError('missing_header', 'the request has no X-Service-Signature');
  const [time = '', ...signatures] = header.split(',').map((part) => part.trim());
  const t = /^t=(\d{1,12})$/.exec(time)?.[1];
  const digests = signatures
    .map((signature) => /^v1=([0-9a-f]{64})$/.exec(signature)?.[1])
    .filter((hex) => hex !== undefined);
  if (t === undefined || digests.length === 0 || signatures.length > MAX_SIGNATURES) {
    throw new WebhookVerificationError('malformed_header', 'expects X-Service-Signature: t=<unix seconds>,v1=<hex>');
  }
  const age = now - Number(t);
  if (age > toleranceSeconds) throw new WebhookVerificationError('too_old', `signed ${Math.round(age)} s ago`);
  if (age < -toleranceSeconds) throw new WebhookVerificationError('too_new', `signed ${Math.round(-age)} s from now`);
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const signed = joined(new TextEncoder().encode(`${t}.`), bytes);
  const secrets = typeof secret === 'string' ? [secret] : secret;
  const matches = await Promise.all(secrets.flatMap((each) => digests.map((digest) => isSigned(each, digest, signed))));
  if (!matches.includes(true))
    throw new WebhookVerificationError('no_match', 'no signature matches this secret and body');
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as Payload;
  } catch {
    throw new WebhookVerificationError('not_json', 'the body is signed but is not JSON');
  }
}

/** Compares in constant time, as Web Crypto does it. */
async function isSigned(secret: string, hex: string, signed: Uint8Array<ArrayBuffer>): Promise<boolean> {
  if (secret === '') return false;
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(secret), hmac, false, ['verify']);
  const digest = Uint8Array.from(hex.match(/../g)!, (byte) => parseInt(byte, 16));
  return crypto.subtle.verify('HMAC', key, digest, signed);
}

function joined(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(head.length + tail.length);
  bytes.set(head);
  bytes.set(tail, head.length);
  return bytes;
}
