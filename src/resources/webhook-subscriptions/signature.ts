/**
 * `X-Service-Signature: t=<unix seconds>,v1=<hex>`, where v1 is the HMAC-SHA256 of `<t>.<raw body>` under the
 * endpoint's secret. During a rotation there is one v1 for each secret, so a receiver may hold either. The v1 of the new
 * secret is the last one: a receiver that reads the header into a map keeps the last.
 *
 * Receivers verify the bytes as they came: a body that was parsed and written again has another digest.
 */
import { createHmac } from 'node:crypto';
import { safeEqual } from '../../platform/core/crypto.ts';

export const SIGNATURE_TOLERANCE_S = 300;

/**
 * @param secrets those in force, the newest first
 * @param t Unix seconds at which this attempt is made: a fresh one each time, or a late retry is refused as a replay
 */
export const signWebhook = (secrets: readonly string[], body: string, t: number): string =>
  [`t=${t}`, ...secrets.toReversed().map((secret) => `v1=${digest(secret, t, body)}`)].join(',');

/**
 * Does what a receiver does with a request before it believes a word of it. It needs nothing but the secret.
 * @param header the value of `X-Service-Signature`
 * @param body the raw bytes received
 */
export function verifyWebhook(
  secret: string,
  header: string | undefined,
  body: string | Uint8Array,
  { toleranceS = SIGNATURE_TOLERANCE_S, nowS = Date.now() / 1000 }: { toleranceS?: number; nowS?: number } = {},
): boolean {
  const [time = '', ...signatures] = (header ?? '').split(',');
  const t = /^t=(\d{1,12})$/.exec(time)?.[1];
  if (t === undefined || Math.abs(nowS - Number(t)) > toleranceS) return false;
  const expected = `v1=${digest(secret, Number(t), body)}`;
  return signatures.some((signature) => safeEqual(signature, expected));
}

const digest = (secret: string, t: number, body: string | Uint8Array): string =>
  createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex');
