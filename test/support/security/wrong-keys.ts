/** API keys that are none, with the answer that each must get; and what all wrong credentials are made of. */
import { sha256 } from '../../../src/platform/core/crypto.ts';
import { newApiKey } from '../../../src/platform/core/ids.ts';
import { TEST_SECRETS, type Tenant } from '../service/service.ts';

export interface Refusal {
  status: number;
  body: unknown;
}

export interface WrongCredential {
  name: string;
  headers: Record<string, string>;
  expected: Refusal;
}

/** What the wrong ones are made of. */
export interface Material {
  tenant: Tenant;
  /** Of the same workspace. */
  revokedKey: string;
  /** Of the same person, who has signed out of it. */
  endedSession: string;
  /** An access token of the identity provider, of the same person and workspace. */
  identityToken: string;
  wrongTokens: readonly [name: string, token: string][];
  /** Tokens to be believed, of people whom nothing gives a role in the workspace. */
  rolelessTokens: readonly [name: string, token: string][];
  /** Of a member by its subject, without a confirmed address: they look and change nothing. */
  lookingTokens: readonly [name: string, token: string][];
  /** Without a confirmed address, of a subject that was never seen with one. */
  unknownTokens: readonly [name: string, token: string][];
  /** Of a pipeline. */
  deployToken: string;
  revokedDeployToken: string;
  /** Everything that somebody who was a member still has in hand, or could have signed since. */
  removed: {
    session: string;
    sessions: readonly [name: string, session: string][];
    tokens: readonly [name: string, token: string][];
    apiKey: string;
    deployToken: string;
  };
}

/** Every access token that the identity provider signed rightly, whoever shows it. */
export const rightTokens = (material: Material): [name: string, token: string][] => [
  ['an access token of the identity provider', material.identityToken],
  ...material.rolelessTokens,
  ...material.lookingTokens,
  ...material.unknownTokens,
  ...material.removed.tokens,
];

const INVALID_KEY: Refusal = { status: 401, body: 'invalid api key' };
const REVOKED_KEY: Refusal = { status: 401, body: 'api key revoked' };

/** Another character of the same alphabet in the last place that counts. */
export const changed = (text: string, at: number) =>
  text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);

export function wrongKeys(material: Material): WrongCredential[] {
  const { revokedKey, removed } = material;
  const { apiKey, session } = material.tenant;
  const bearer = (name: string, value: string): WrongCredential => ({
    name,
    headers: { authorization: value },
    expected: INVALID_KEY,
  });
  return [
    { name: 'nothing', headers: {}, expected: INVALID_KEY },
    bearer('an empty header', ''),
    bearer('a scheme without a key', 'Bearer'),
    bearer('a key without a scheme', apiKey),
    bearer('another scheme', `Basic ${Buffer.from(`${apiKey}:`).toString('base64')}`),
    bearer('two keys', `Bearer ${apiKey} ${apiKey}`),
    bearer('a key with something after it', `Bearer ${apiKey}x`),
    bearer('a key that is cut off', `Bearer ${apiKey.slice(0, -1)}`),
    bearer('a key with another character', `Bearer ${changed(apiKey, 20)}`),
    bearer('a key in upper case', `Bearer ${apiKey.toUpperCase()}`),
    bearer('an unknown key', `Bearer ${newApiKey()}`),
    bearer('another prefix', `Bearer ${apiKey.replace('svc_pk_', 'svc_sk_')}`),
    bearer('no prefix', `Bearer ${apiKey.replace('svc_pk_', '')}`),
    bearer('what is stored of the key', `Bearer ${sha256(apiKey)}`),
    bearer('a session', `Bearer ${session}`),
    bearer('the operator token', `Bearer ${TEST_SECRETS.OPERATOR_TOKEN}`),
    ...rightTokens(material).map(([name, token]) => bearer(name, `Bearer ${token}`)),
    bearer('a session of a removed member', `Bearer ${removed.session}`),
    { name: 'a session cookie', headers: { cookie: `service_session=${session}` }, expected: INVALID_KEY },
    { name: 'a session header', headers: { 'x-service-session': session }, expected: INVALID_KEY },
    {
      name: 'a key in another header',
      headers: { 'x-api-key': apiKey, cookie: `api_key=${apiKey}` },
      expected: INVALID_KEY,
    },
    { name: 'a revoked key', headers: { authorization: `Bearer ${revokedKey}` }, expected: REVOKED_KEY },
    {
      name: 'a key that a removed member made',
      headers: { authorization: `Bearer ${removed.apiKey}` },
      expected: REVOKED_KEY,
    },
  ];
}
