/**
 * Sessions and the admin stamp: how both are made and how they are checked.
 *
 * A session is `base64url(claims).base64url(hmac)`; the proxy reads it from the cookie and passes it on in a header.
 * The stamp binds an owner or admin to one method and path for five minutes.
 */
import { z } from 'zod';
import { hmacSha256, safeEqual } from '../core/crypto.ts';
import { INTERNAL_WORKSPACE } from '../core/ids.ts';
import { Problem } from '../core/problem.ts';
import type { Authenticate } from './app.ts';
import type { Caller } from './endpoint.ts';

export const SESSION_COOKIE = 'service_session';
export const SESSION_HEADER = 'x-service-session';
export const ADMIN_HEADER = 'x-service-admin';
const STAMP_TOLERANCE_S = 300;

const Claims = z.object({
  sub: z.string().min(1),
  email: z.string(),
  workspace: z.string().min(1),
  customer_id: z.string().min(1),
  role: z.enum(['owner', 'admin', 'member']),
  iat: z.number(),
  /** Unix seconds. A session without an end is refused. */
  exp: z.number(),
});
export type SessionClaims = z.infer<typeof Claims>;

export function signSession(claims: SessionClaims, secret: string): string {
  const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
  return `${payload}.${hmacSha256(secret, payload, 'base64url')}`;
}

/** The claims, or undefined when the text is no session of ours or is past its end. */
export function readSession(text: string | undefined, secret: string, nowS = Date.now() / 1000) {
  const [payload, signature, rest] = text?.split('.') ?? [];
  if (!payload || !signature || rest !== undefined) return undefined;
  if (!safeEqual(signature, hmacSha256(secret, payload, 'base64url'))) return undefined;
  try {
    const claims = Claims.parse(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')));
    return claims.exp > nowS ? claims : undefined;
  } catch {
    return undefined;
  }
}

interface StampedRequest {
  sub: string;
  method: string;
  /** Control-plane path without prefix and query. */
  path: string;
}

export function signAdminStamp(
  { sub, method, path }: StampedRequest,
  secret: string,
  nowS = Date.now() / 1000,
): string {
  const t = Math.floor(nowS);
  return `t=${t},v1=${hmacSha256(secret, `${t}.${sub}.${method.toUpperCase()}.${path}`)}`;
}

export function isAdminStamp(
  text: string | undefined,
  { sub, method, path }: StampedRequest,
  secret: string,
  nowS = Date.now() / 1000,
): boolean {
  const [, t, digest] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(text ?? '') ?? [];
  if (!t || !digest || Math.abs(nowS - Number(t)) > STAMP_TOLERANCE_S) return false;
  return safeEqual(digest, hmacSha256(secret, `${t}.${sub}.${method.toUpperCase()}.${path}`));
}

export const sessionCaller = (claims: SessionClaims, isAdmin: boolean): Caller => ({
  workspaceId: claims.workspace,
  customerId: claims.customer_id,
  actor: claims.email || claims.sub,
  isAdmin,
  isInternal: claims.workspace === INTERNAL_WORKSPACE,
});

export interface AuthenticateOptions {
  sessionSecret: string;
  adminSecret: string;
  /** @throws Problem invalid_api_key, api_key_revoked */
  apiKeyCaller: (secret: string) => Promise<Caller>;
}

/** How each credential is checked, for both surfaces. */
export const createAuthenticate =
  ({ sessionSecret, adminSecret, apiKeyCaller }: AuthenticateOptions): Authenticate =>
  async (credential, request) => {
    if (credential === 'api-key') {
      const [, secret] = /^Bearer (\S+)$/i.exec(request.get('authorization') ?? '') ?? [];
      if (!secret) throw new Problem('invalid_api_key');
      return apiKeyCaller(secret);
    }
    const claims = readSession(request.get(SESSION_HEADER), sessionSecret);
    if (!claims) throw new Problem('auth_required');
    const stamped = { sub: claims.sub, method: request.method, path: request.path };
    const isAdmin = isAdminStamp(request.get(ADMIN_HEADER), stamped, adminSecret);
    if (credential === 'admin' && !isAdmin) throw new Problem('admin_required');
    return sessionCaller(claims, isAdmin);
  };
