/**
 * Sessions and the admin stamp: how both are made and how they are checked.
 *
 * A session is `base64url(claims).base64url(hmac)`; the proxy reads it from the cookie and passes it on in a header.
 * The stamp binds an owner or admin to one method and path for five minutes. A secret is given as its setting has it:
 * the first signs, those after commas still verify, so that a rotation signs nobody out.
 */
import { z } from 'zod';
import { sessionSubjectName } from '../core/actor.ts';
import { hmacSha256, safeEqual, secretsIn } from '../core/crypto.ts';
import { INTERNAL_WORKSPACE } from '../core/ids.ts';
import { parseJson } from '../core/json.ts';
import { present } from '../core/present.ts';
import { Problem } from '../core/problem.ts';
import {
  demand,
  isOfPipeline,
  NO_STANDING,
  OPERATOR_STANDING,
  SESSION_ROLES,
  standingIn,
  type Right,
  type Role,
  type Standing,
} from '../core/rights.ts';
import type { Meters } from '../observability/meters.ts';
import type { Authenticate } from './app.ts';
import { SESSION_HEADER, type Caller, type Credential } from './endpoint.ts';

export { SESSION_HEADER };

export const SESSION_COOKIE = 'service_session';
export const ADMIN_HEADER = 'x-service-admin';
export const OPERATOR_HEADER = 'x-operator-token';
/** The clocks of whoever signs and of this machine may differ by so much. */
const CLOCK_TOLERANCE_S = 300;

const Claims = z.object({
  sub: z.string().min(1),
  email: z.string(),
  workspace: z.string().min(1),
  customer_id: z.string().min(1),
  role: z.enum(SESSION_ROLES),
  /**
   * Unix seconds, with a fraction: a session of a whole second ends with every cut-off within this second. A session that
   * begins in the future would outlive a command that ends all sessions made before now.
   */
  iat: z.number(),
  /** Unix seconds. A session without an end is refused. */
  exp: z.number(),
});
export type SessionClaims = z.infer<typeof Claims>;

const isSigned = (signature: string, secret: string, text: string, encoding: 'hex' | 'base64url'): boolean =>
  secretsIn(secret).some((each) => safeEqual(signature, hmacSha256(each, text, encoding)));

export function signSession(claims: SessionClaims, secret: string): string {
  const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
  return `${payload}.${hmacSha256(secretsIn(secret)[0], payload, 'base64url')}`;
}

/** @returns the claims, or undefined where the text is no session of ours, is past its end or has not begun */
export function readSession(text: string | undefined, secret: string, nowS = Date.now() / 1000) {
  const [payload, signature, rest] = text?.split('.') ?? [];
  if (!payload || !signature || rest !== undefined) return undefined;
  if (!isSigned(signature, secret, payload, 'base64url')) return undefined;
  try {
    const claims = Claims.parse(parseJson(Buffer.from(payload, 'base64url').toString('utf8')));
    return claims.exp > nowS && claims.iat <= nowS + CLOCK_TOLERANCE_S ? claims : undefined;
  } catch {
    return undefined;
  }
}

interface StampedRequest {
  sub: string;
  method: string;
  /** A path of the control plane without prefix and query. */
  path: string;
}

export function signAdminStamp(
  { sub, method, path }: StampedRequest,
  secret: string,
  nowS = Date.now() / 1000,
): string {
  const t = Math.floor(nowS);
  return `t=${t},v1=${hmacSha256(secretsIn(secret)[0], `${t}.${sub}.${method.toUpperCase()}.${path}`)}`;
}

export function isAdminStamp(
  text: string | undefined,
  { sub, method, path }: StampedRequest,
  secret: string,
  nowS = Date.now() / 1000,
): boolean {
  const [, t, digest] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(text ?? '') ?? [];
  if (!t || !digest || Math.abs(nowS - Number(t)) > CLOCK_TOLERANCE_S) return false;
  return isSigned(digest, secret, `${t}.${sub}.${method.toUpperCase()}.${path}`, 'hex');
}

export const sessionCaller = (claims: SessionClaims, more: Parameters<typeof standingIn>[2] = {}): Caller => ({
  workspaceId: claims.workspace,
  customerId: claims.customer_id,
  actor: claims.email || sessionSubjectName(claims.sub, isOfPipeline(claims.role)),
  standing: standingIn(claims.workspace, claims.role, more),
});

/** The deployment itself is the caller of routes whose answers belong to no workspace. */
const deploymentCaller = (actor: string, standing: Standing): Caller => ({
  workspaceId: INTERNAL_WORKSPACE,
  customerId: 'internal',
  actor,
  standing,
});

/** Some credentials ask for more than a session: its holder must have this right. */
const RIGHT_OF: Partial<Record<Credential, Right>> = { admin: 'admin.routes', internal: 'deployment.routes' };

/** What has become of a session that is signed and not past its end: it may have been ended before its time. */
export type FindSession = (
  session: string,
  claims: SessionClaims,
) => Promise<{
  isEnded: boolean;
  /** The workspace of the session is archived. */
  isArchived: boolean;
  /** Of the session of a pipeline: what the person who made it is by now. */
  makerRole?: Role | undefined;
}>;

export interface AuthenticateOptions {
  sessionSecret: string;
  adminSecret: string;
  /** An empty token disables the operator routes. */
  operatorToken: string;
  findSession: FindSession;
  /** @throws Problem auth_required, identity_unreachable */
  identityCaller: (token: string) => Promise<Caller>;
  /** @throws Problem invalid_api_key, api_key_revoked */
  apiKeyCaller: (secret: string) => Promise<Caller>;
}

/** Counts refusals, since many of one kind mean that somebody tries, or that a key was not rotated everywhere. */
export const countingRefusals =
  (authenticate: Authenticate, { refusedCredentials }: Pick<Meters, 'refusedCredentials'>): Authenticate =>
  (credential, request) =>
    authenticate(credential, request).catch((error: unknown) => {
      if (error instanceof Problem) refusedCredentials.inc({ credential, reason: error.code });
      throw error;
    });

/** How each credential is checked, for both surfaces. */
export const createAuthenticate =
  ({ sessionSecret, adminSecret, operatorToken, findSession, ...callers }: AuthenticateOptions): Authenticate =>
  async (credential, request) => {
    const [, bearer] = /^Bearer (\S+)$/i.exec(request.get('authorization') ?? '') ?? [];
    if (credential === 'api-key') {
      if (!bearer) throw new Problem('invalid_api_key');
      return callers.apiKeyCaller(bearer);
    }
    if (credential === 'provider') return deploymentCaller('billing-provider', NO_STANDING);
    if (credential === 'operator') {
      if (!operatorToken) throw new Problem('operator_disabled');
      if (!safeEqual(request.get(OPERATOR_HEADER) ?? '', operatorToken)) throw new Problem('invalid_operator_token');
      return deploymentCaller('operator', OPERATOR_STANDING);
    }
    const session = request.get(SESSION_HEADER);
    if (credential === 'identity' && bearer && session === undefined) return callers.identityCaller(bearer);
    const claims = readSession(session, sessionSecret);
    if (!claims) throw new Problem('auth_required');
    const found = await findSession(present(session), claims);
    if (found.isEnded) throw new Problem('auth_required');
    const stamped = { sub: claims.sub, method: request.method, path: request.path };
    const isStamped = isAdminStamp(request.get(ADMIN_HEADER), stamped, adminSecret);
    const { makerRole, isArchived } = found;
    const caller = { ...sessionCaller(claims, { isStamped, makerRole }), isArchived };
    const right = RIGHT_OF[credential];
    if (right) demand(caller, right);
    return caller;
  };
