/**
 * Reads access tokens of the identity provider: who shows one, and which workspace it opens. Its keys are fetched from
 * an address and kept for a while; a token by a key that is not among them has them read again, so that a rotation
 * needs nothing here.
 */
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  jwtVerify,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
} from 'jose';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { subjectName } from '../../platform/core/actor.ts';
import { ConfigError, type Config } from '../../platform/core/config.ts';
import { customerIdOf } from '../../platform/core/ids.ts';
import { parseJson } from '../../platform/core/json.ts';
import { present } from '../../platform/core/present.ts';
import { Problem } from '../../platform/core/problem.ts';
import { LOOKS_ONLY, standingIn } from '../../platform/core/rights.ts';
import { plainFetch } from '../../platform/egress/limits.ts';
import type { Caller } from '../../platform/http/endpoint.ts';
import { findUnstorable } from '../../platform/http/validate.ts';
import type { MemberStore } from '../members/store/index.ts';

/** Only asymmetric algorithms are allowed: with a shared secret, whoever may verify may sign. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const CLOCK_TOLERANCE_S = 30;
/** Keys are believed for this long without another look, which is how long a dropped one still opens something. */
const KEYS_MAX_AGE_MS = 10 * 60_000;

const Claims = z.object({
  sub: z.string().min(1).max(500),
  email: z.string().max(500).optional(),
  email_verified: z.boolean().optional(),
  workspace_id: z.string().max(200),
  iat: z.number().optional(),
});

export interface IdentityOptions {
  settings: Pick<
    Config,
    'IDENTITY_JWKS_URL' | 'IDENTITY_ISSUER' | 'IDENTITY_AUDIENCE' | 'RESPONSE_MAX_MB' | 'RESPONSE_TIMEOUT'
  >;
  members: Pick<MemberStore, 'workspaceOfIdentity' | 'bindSubject'>;
  /** @returns Unix seconds from which tokens of this person count */
  believedFrom: (customerId: string, person: string) => Promise<number>;
  /** So much time lies between two looks at the keys for the sake of one that is not among them. */
  cooldownMs?: number;
}

/** @returns who shows a token. @throws ConfigError when the settings are incomplete */
export function createIdentityCaller({ settings, members, believedFrom, cooldownMs = 30_000 }: IdentityOptions) {
  const { IDENTITY_JWKS_URL: address, IDENTITY_ISSUER: issuer, IDENTITY_AUDIENCE: audience } = settings;
  if (address === undefined) return () => Promise.reject(new Problem('auth_required'));
  if (!issuer || !audience) {
    throw new ConfigError('IDENTITY_ISSUER and IDENTITY_AUDIENCE: are needed with IDENTITY_JWKS_URL');
  }
  const fetch = plainFetch(settings);
  const options = {
    cacheMaxAge: KEYS_MAX_AGE_MS,
    cooldownDuration: cooldownMs,
    timeoutDuration: settings.RESPONSE_TIMEOUT,
    [customFetch]: (url: string, init: RequestInit) => fetch(url, init),
  };
  const url = new URL(address);
  const keys = url.protocol === 'file:' ? keysInFile(url) : createRemoteJWKSet(url, options);

  /** @throws Problem auth_required, identity_unreachable */
  return async (token: string): Promise<Caller> => {
    const claims = await verified(token, keys, { issuer, audience });
    const { workspace_id: workspaceId, sub, email } = claims;
    const slug = customerIdOf(workspaceId);
    if (!slug || findUnstorable(claims)) throw new Problem('auth_required');
    // An address that nobody has confirmed may be anybody's: it gives no role and stands in no record.
    const isConfirmed = Boolean(email) && claims.email_verified !== false;
    const address = email?.toLowerCase();
    const subject = subjectName(sub);
    const known = await members.workspaceOfIdentity(workspaceId, slug, { address, isConfirmed, subject });
    // Two ids may have one slug: the workspace is that of the first one, and the second may not enter it.
    if (known && known.workspaceId !== workspaceId) throw new Problem('auth_required');
    // The provider may not know yet what the workspace has decided.
    if (known?.wasRemoved) throw new Problem('auth_required');
    // A token that says less must not do more: without a confirmed address its subject has to be known as a member's, and
    // that member is only shown what a viewer is.
    if (known && !isConfirmed && known.roleBySubject === null) throw new Problem('auth_required');
    const bySubject = known?.role === null && known.roleBySubject !== null ? known.boundTo : null;
    const actor = isConfirmed ? (bySubject ?? present(email)) : subject;
    // The token may be from the life of the workspace before this one. A token that does not say when it was issued may
    // be older than anything.
    const from = known ? await believedFrom(known.customerId, actor.toLowerCase()) : 0;
    if (from > (claims.iat ?? 0)) throw new Problem('auth_required');
    if (known?.role && address !== undefined && known.boundTo !== address) {
      await members.bindSubject(known.customerId, subject, address);
    }
    const role = isConfirmed ? (known?.role ?? known?.roleBySubject ?? undefined) : LOOKS_ONLY;
    return {
      workspaceId,
      customerId: known?.customerId ?? slug,
      actor,
      standing: standingIn(workspaceId, role),
      isArchived: known?.isArchived ?? false,
    };
  };
}

/** The file is read each time: it is this machine's own, and keys come and go in it. */
const keysInFile =
  (url: URL): JWTVerifyGetKey =>
  async (header, token) =>
    createLocalJWKSet(parseJson(await readFile(url, 'utf8')) as JSONWebKeySet)(header, token);

async function verified(token: string, keys: JWTVerifyGetKey, expected: { issuer: string; audience: string }) {
  try {
    const { payload } = await jwtVerify(token, keys, {
      ...expected,
      algorithms: ALGORITHMS,
      requiredClaims: ['sub', 'exp', 'iss', 'aud'],
      clockTolerance: CLOCK_TOLERANCE_S,
    });
    return Claims.parse(payload);
  } catch (error) {
    throw new Problem(isAboutToken(error) ? 'auth_required' : 'identity_unreachable');
  }
}

/** Any other failure is that of the provider, its address, or what is found there. */
const NOT_THE_TOKEN = new Set([errors.JWKSTimeout.code, errors.JWKSInvalid.code, errors.JOSEError.code]);
const isAboutToken = (error: unknown): boolean =>
  error instanceof z.ZodError || (error instanceof errors.JOSEError && !NOT_THE_TOKEN.has(error.code));
