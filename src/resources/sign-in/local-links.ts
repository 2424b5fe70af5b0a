/**
 * Links that sign the owner of an embedded deployment in without a mail. The process that prints one is the process that
 * takes it: nothing is kept but the hash, in memory, for a quarter of an hour, and it is good once. Only who is on this
 * machine may use one.
 */
import type { Request } from 'express';
import { randomBytes } from 'node:crypto';
import { sha256 } from '../../platform/core/crypto.ts';
import { present } from '../../platform/core/present.ts';
import { Problem } from '../../platform/core/problem.ts';
import { LOCAL_LINK_TTL_MS } from './model.ts';

/** So many links can be used at one time; the oldest goes first. */
const MAX_LINKS = 20;
const LOOPBACK = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'];

export type LocalLinks = ReturnType<typeof createLocalLinks>;

export function createLocalLinks(now: () => number = Date.now) {
  /** Links by their hash, in the order of their making. */
  const links = new Map<string, { email: string; expiresAt: number }>();
  let owner: string | undefined;

  return {
    /** @returns the address that links of this process sign in; undefined where it makes none */
    owner: () => owner,

    /** @returns the token of a new link, which only the embedded mode asks for */
    issue(email: string): string {
      const token = randomBytes(32).toString('base64url');
      owner = email;
      links.set(sha256(token), { email, expiresAt: now() + LOCAL_LINK_TTL_MS });
      if (links.size > MAX_LINKS) links.delete(present(links.keys().next().value));
      return token;
    },

    /** @returns the address that it signs in, once @throws Problem invalid_code */
    use(token: string, request: Pick<Request, 'socket' | 'headers'>): string {
      // A request that came through something else may have come from anywhere.
      const isNear =
        LOOPBACK.has(request.socket.remoteAddress ?? '') && !FORWARDED.some((name) => name in request.headers);
      const hash = sha256(token);
      const link = links.get(hash);
      if (!isNear || !link || link.expiresAt <= now()) throw new Problem('invalid_code');
      links.delete(hash);
      return link.email;
    },
  };
}
