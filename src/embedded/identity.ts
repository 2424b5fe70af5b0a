/**
 * Issues access tokens in the embedded mode, where no identity provider is set. Key pairs are in
 * `DATA_DIR/identity.json`, the public keys beside it in `jwks.json`. A key signs for a month. The one before it
 * verifies for as long as a token that it signed may last, and is then dropped.
 */
import type { JWK } from 'jose';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readPrivateJson, writePrivateJson } from './private-file.ts';

const ALGORITHM = 'ES256';
const ISSUER = 'agent-orchestration-service/local';
const AUDIENCE = 'agent-orchestration-service';
const SIGNS_MS = 30 * 24 * 3_600_000;
const MAX_TOKEN_TTL_MS = 24 * 3_600_000;

/** The newest key is the first in the file. */
interface LocalKey {
  created_at: string;
  /** The next key took over at this time. */
  superseded_at?: string;
  private_jwk: JWK & { kid: string };
}

const keysFile = (dataDir: string): string => join(dataDir, 'identity.json');
const jwksFile = (dataDir: string): string => join(dataDir, 'jwks.json');

async function newKey(now: Date): Promise<LocalKey> {
  const { calculateJwkThumbprint, exportJWK, generateKeyPair } = await import('jose');
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const jwk = await exportJWK(privateKey);
  return { created_at: now.toISOString(), private_jwk: { ...jwk, kid: await calculateJwkThumbprint(jwk) } };
}

const isSpent = ({ superseded_at: at }: LocalKey, now: Date): boolean =>
  at !== undefined && now.getTime() - Date.parse(at) > MAX_TOKEN_TTL_MS;

/** Makes a first key, another when the current one is old, and forgets what no token needs any more. */
async function keepKeys(dataDir: string, now: Date): Promise<void> {
  const kept = (await readPrivateJson<LocalKey[]>(keysFile(dataDir))) ?? [];
  const [current] = kept;
  const isOld = !current || now.getTime() - Date.parse(current.created_at) > SIGNS_MS;
  if (current && isOld) current.superseded_at = now.toISOString();
  const keys = [...(isOld ? [await newKey(now)] : []), ...kept].filter((key) => !isSpent(key, now));
  await writePrivateJson(keysFile(dataDir), keys);
  const published = keys.map(({ private_jwk: { kty, crv, x, y, kid } }) => ({ kty, crv, x, y, kid, alg: ALGORITHM }));
  await writePrivateJson(jwksFile(dataDir), { keys: published });
}

/** @returns the settings of an identity provider that were not given */
export async function localIdentity(
  env: NodeJS.ProcessEnv,
  dataDir: string,
  now = new Date(),
): Promise<Record<string, string>> {
  if (env.IDENTITY_JWKS_URL) return {};
  await keepKeys(dataDir, now);
  return {
    IDENTITY_JWKS_URL: pathToFileURL(jwksFile(dataDir)).href,
    IDENTITY_ISSUER: ISSUER,
    IDENTITY_AUDIENCE: AUDIENCE,
  };
}

export interface TokenRequest {
  email: string;
  workspaceId: string;
  ttlMs: number;
}

/** @returns an access token of the local issuer; undefined where there is none */
export async function signLocalToken(
  dataDir: string,
  { email, workspaceId, ttlMs }: TokenRequest,
): Promise<string | undefined> {
  const [current] = (await readPrivateJson<LocalKey[]>(keysFile(dataDir))) ?? [];
  if (!current) return undefined;
  const { private_jwk: jwk } = current;
  const { importJWK, SignJWT } = await import('jose');
  const nowS = Math.floor(Date.now() / 1_000);
  return new SignJWT({ email, email_verified: true, workspace_id: workspaceId })
    .setProtectedHeader({ alg: ALGORITHM, kid: jwk.kid })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setSubject(email)
    .setIssuedAt(nowS)
    .setExpirationTime(nowS + Math.floor(Math.min(ttlMs, MAX_TOKEN_TTL_MS) / 1_000))
    .sign(await importJWK(jwk, ALGORITHM));
}
