/** An identity provider: its keys at an address, and access tokens, right ones and every kind of wrong one. */
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTPayload } from 'jose';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { first } from '../../../src/platform/core/present.ts';
import type { Tenant } from '../service/service.ts';
import { portOf } from '../processes/listening.ts';

export const ISSUER = 'https://identity.example';
export const AUDIENCE = 'agent-orchestration-service';

interface SigningKey {
  kid: string;
  alg: string;
  privateKey: CryptoKey;
  publicKey: CryptoKey;
}

export interface TokenOptions {
  key?: SigningKey;
  expiresAt?: number;
}

export type IdentityProvider = Awaited<ReturnType<typeof startIdentityProvider>>;

async function newSigningKey(kid: string, alg = 'ES256'): Promise<SigningKey> {
  return { kid, alg, ...(await generateKeyPair(alg, { extractable: true })) };
}

export async function startIdentityProvider() {
  const keys = [await newSigningKey('first')];
  let fetches = 0;
  let isUp = true;
  const server = createServer((_request, response) => {
    fetches += 1;
    const published = keys.map(async ({ kid, alg, publicKey }) => ({ ...(await exportJWK(publicKey)), kid, alg }));
    void Promise.all(published).then((jwks) => {
      response.writeHead(isUp ? 200 : 503, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ keys: jwks }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  const jwksUrl = `http://127.0.0.1:${port}/jwks.json`;

  return {
    settings: { IDENTITY_JWKS_URL: jwksUrl, IDENTITY_ISSUER: ISSUER, IDENTITY_AUDIENCE: AUDIENCE },
    fetches: () => fetches,
    setUp: (up: boolean) => void (isUp = up),
    /** Signs with this one from now on; the ones before stay published. */
    rotate: async (kid: string) => void keys.unshift(await newSigningKey(kid)),
    dropOldKeys: () => void keys.splice(1),
    /**
     * As `claims` say, with what every token has. A claim that is undefined is left out; everybody with an address has a
     * subject of their own.
     */
    token(
      claims: JWTPayload,
      { key = first(keys), expiresAt = Math.floor(Date.now() / 1_000) + 300 }: TokenOptions = {},
    ) {
      const sub = subjectFor(claims['email']);
      const all = { iss: ISSUER, aud: AUDIENCE, sub, exp: expiresAt, ...claims };
      return new SignJWT(all).setProtectedHeader({ alg: key.alg, kid: key.kid }).sign(key.privateKey);
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** @returns the subject by which the provider knows whoever has this address */
export const subjectFor = (email: unknown): string =>
  typeof email === 'string' ? `person-${email.toLowerCase().replaceAll(/[^a-z\d]/g, '-')}` : 'person-1';

export const claimsFor = ({ caller }: Pick<Tenant, 'caller'>): JWTPayload => ({
  email: caller.actor,
  workspace_id: caller.workspaceId,
});

/** Tokens of this person and workspace that are not to be believed: what is wrong with each, and the token. */
export async function wrongTokens(
  provider: IdentityProvider,
  tenant: Pick<Tenant, 'caller'>,
): Promise<[name: string, token: string][]> {
  const claims = claimsFor(tenant);
  const right = await provider.token(claims);
  const [header, payload, signature] = right.split('.') as [string, string, string];
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const shared = await new SignJWT({ iss: ISSUER, aud: AUDIENCE, sub: 'person-1', ...claims })
    .setProtectedHeader({ alg: 'HS256', kid: 'first' })
    .setExpirationTime('5m')
    .sign(new TextEncoder().encode('a shared secret of more than thirty-two characters'));
  const nowS = Math.floor(Date.now() / 1_000);
  return [
    ['an unsigned token', `${encoded({ alg: 'none' })}.${payload}.`],
    ['a token without its signature', `${header}.${payload}`],
    ['a token with another signature', `${header}.${payload}.${'A'.repeat(signature.length)}`],
    ['a token with another payload', `${header}.${encoded({ ...claims, exp: nowS + 1e6 })}.${signature}`],
    ['a token signed with a shared secret', shared],
    ['a token of another key', await provider.token(claims, { key: await newSigningKey('other') })],
    ['a token of another key by the same name', await provider.token(claims, { key: await newSigningKey('first') })],
    ['a token of another issuer', await provider.token({ ...claims, iss: 'https://other.example' })],
    ['a token for another audience', await provider.token({ ...claims, aud: 'another-service' })],
    ['a token without an issuer', await provider.token({ ...claims, iss: undefined })],
    ['a token without an audience', await provider.token({ ...claims, aud: undefined })],
    ['a token that has ended', await provider.token(claims, { expiresAt: nowS - 120 })],
    ['a token without an end', await provider.token({ ...claims, exp: undefined })],
    ['a token of the future', await provider.token({ ...claims, nbf: nowS + 600 })],
    ['a token of nobody', await provider.token({ ...claims, sub: undefined })],
    ['a token of no workspace', await provider.token({ ...claims, workspace_id: undefined })],
    ['a token of an empty workspace', await provider.token({ ...claims, workspace_id: 'acc_' })],
    ['a token of a workspace that is no text', await provider.token({ ...claims, workspace_id: ['acc_acme'] })],
  ];
}
