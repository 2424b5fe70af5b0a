/**
 * Makes time-limited credentials of TURN servers, which relay audio and video between browsers that cannot reach each
 * other. The scheme is what servers and clients agree on ("REST API for access to TURN services").
 */
import { createHmac } from 'node:crypto';
import type { Config } from '../../platform/core/config.ts';

export type TurnSettings = Pick<Config, 'TURN_SECRET' | 'TURN_URLS' | 'TURN_TTL'>;

/** @returns undefined when there are no TURN servers */
export function turnCredentials(
  { TURN_SECRET: secret, TURN_URLS: uris, TURN_TTL: ttlMs }: TurnSettings,
  user: string,
  nowMs = Date.now(),
) {
  if (secret === undefined || uris.length === 0) return undefined;
  const ttl = Math.floor(ttlMs / 1_000);
  const username = `${Math.floor(nowMs / 1_000) + ttl}:${user}`;
  // The servers compute SHA-1.
  return { username, credential: createHmac('sha1', secret).update(username).digest('base64'), ttl, uris };
}
