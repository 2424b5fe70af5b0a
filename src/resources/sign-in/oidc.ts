/** Sign-in at an OpenID provider: code flow with PKCE, state and nonce. What counts is the address that it has verified. */
import * as client from 'openid-client';
import { ConfigError, type Config } from '../../platform/core/config.ts';
import { Problem } from '../../platform/core/problem.ts';
import { plainFetch } from '../../platform/egress/limits.ts';
import { addressIn } from '../../platform/core/addresses.ts';
import { ROLES, type Role } from '../../platform/core/rights.ts';
import type { Tickets } from './tickets.ts';

type Departure = Omit<Tickets['departure'], 'next'>;
export type Oidc = NonNullable<ReturnType<typeof createOidc>>;

type OidcSettings = Pick<
  Config,
  | 'OIDC_ISSUER'
  | 'OIDC_CLIENT_ID'
  | 'OIDC_CLIENT_SECRET'
  | 'OIDC_SCOPE'
  | 'OIDC_ROLES'
  | 'OIDC_ROLES_CLAIM'
  | 'RESPONSE_MAX_MB'
  | 'RESPONSE_TIMEOUT'
>;

/** Who signed in at the provider. */
export interface Arrived {
  email: string;
  /** What the provider says that they are; null: nothing that is named; undefined: it is not asked. */
  role: Role | null | undefined;
}

/** @returns undefined where people sign in by mailed code @throws ConfigError where the settings are incomplete */
export function createOidc(settings: OidcSettings) {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: id, OIDC_CLIENT_SECRET: secret } = settings;
  if (issuer === undefined) return undefined;
  if (!id || !secret) throw new ConfigError('OIDC_CLIENT_ID and OIDC_CLIENT_SECRET: are needed with OIDC_ISSUER');

  const { OIDC_ROLES: rolesBy, OIDC_ROLES_CLAIM: claim } = settings;
  const address = new URL(issuer);
  // Whoever sets a provider without TLS knows it to be near.
  const execute = address.protocol === 'http:' ? [client.allowInsecureRequests] : [];
  const fetch = plainFetch(settings);
  const options = {
    execute,
    timeout: settings.RESPONSE_TIMEOUT / 1_000,
    [client.customFetch]: (url: string, init: client.CustomFetchOptions) => fetch(url, init as RequestInit),
  };
  let discovered: Promise<client.Configuration> | undefined;
  /** Once discovery has succeeded it is not repeated. */
  const provider = (): Promise<client.Configuration> => {
    discovered ??= client.discovery(address, id, secret, undefined, options).catch((error: unknown) => {
      discovered = undefined;
      throw Object.assign(new Problem('identity_unreachable'), { cause: error });
    });
    return discovered;
  };

  return {
    /** @returns where to send the browser, and what to keep until it is back @throws Problem identity_unreachable */
    async depart(redirectUri: string): Promise<Departure & { url: string }> {
      const departure = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        codeVerifier: client.randomPKCECodeVerifier(),
      };
      const url = client.buildAuthorizationUrl(await provider(), {
        redirect_uri: redirectUri,
        scope: settings.OIDC_SCOPE,
        state: departure.state,
        nonce: departure.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(departure.codeVerifier),
        code_challenge_method: 'S256',
      });
      return { ...departure, url: url.href };
    },

    /**
     * @param arrival the address that the browser came back to, with its query
     * @returns who signed in there, by a verified address
     * @throws Problem no_membership without one, identity_unreachable; the client's own errors when a check fails
     */
    async arrive(arrival: URL, { state, nonce, codeVerifier }: Departure): Promise<Arrived> {
      const config = await provider();
      const tokens = await client.authorizationCodeGrant(config, arrival, {
        pkceCodeVerifier: codeVerifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      });
      const claims = tokens.claims()!;
      // The provider decides which of the two has what.
      const isWhole = claims.email !== undefined && (rolesBy.size === 0 || claims[claim] !== undefined);
      const person = isWhole
        ? claims
        : { ...claims, ...(await client.fetchUserInfo(config, tokens.access_token, claims.sub)) };
      const email = typeof person.email === 'string' && person.email_verified === true && addressIn(person.email);
      if (!email) throw new Problem('no_membership', 'the provider gave no verified e-mail address');
      return { email, role: rolesBy.size === 0 ? undefined : highestOf(rolesBy, person[claim]) };
    },
  };
}

/** @returns the most that one of the names gives */
function highestOf(rolesBy: ReadonlyMap<string, Role>, names: unknown): Role | null {
  const given = [names].flat().flatMap((name) => (typeof name === 'string' ? (rolesBy.get(name) ?? []) : []));
  return ROLES.find((role) => given.includes(role)) ?? null;
}
