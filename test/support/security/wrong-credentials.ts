/**
 * Every credential that is not the right one, with the answer that each must get. By kind of credential: a new kind
 * does not compile until its wrong ones are here.
 */
import { changed, rightTokens, wrongKeys, type Material, type Refusal, type WrongCredential } from './wrong-keys.ts';
import { sha256 } from '../../../src/platform/core/crypto.ts';
import { signAdminStamp, signSession, type SessionClaims } from '../../../src/platform/http/auth.ts';
import { isEnough } from '../../../src/platform/core/rights.ts';
import { PROBLEMS } from '../../../src/platform/core/problem.ts';
import type { Credential, Endpoint } from '../../../src/platform/http/endpoint.ts';
import { TEST_SECRETS, type Tenant } from '../service/service.ts';

const NO_SESSION: Refusal = { status: 401, body: { detail: 'auth_required' } };
const NO_COOKIE: Refusal = { status: 401, body: { error: 'auth_required' } };
const NOT_OWNER: Refusal = { status: 403, body: { detail: 'owner_required' } };
const NOT_ADMIN: Refusal = { status: 403, body: { detail: 'admin_required' } };
const NOT_INTERNAL: Refusal = { status: 403, body: { detail: 'internal_only' } };
const NO_OPERATOR: Refusal = { status: 401, body: { detail: 'invalid_operator_token' } };

const ONLY_DEPLOYS: Refusal = { status: 403, body: { detail: PROBLEMS.deploys_only.detail } };
const ONLY_LOOKS: Refusal = { status: 403, body: { detail: PROBLEMS.read_only.detail } };

const nowS = () => Math.floor(Date.now() / 1_000);

const claimsOf = ({ caller }: Tenant, change: Partial<SessionClaims> = {}): SessionClaims => ({
  sub: caller.actor,
  email: caller.actor,
  workspace: caller.workspaceId,
  customer_id: caller.customerId,
  role: 'owner',
  iat: nowS(),
  exp: nowS() + 3_600,
  ...change,
});
const sign = (claims: SessionClaims, secret = TEST_SECRETS.SESSION_SECRET) => signSession(claims, secret);
/** Sessions that are none, whichever way they come. */
function wrongSessions({
  tenant,
  endedSession,
  removed,
  revokedDeployToken,
}: Material): [name: string, session: string][] {
  const { apiKey, session } = tenant;
  const [payload, signature] = session.split('.') as [string, string];
  const payloadOf = (claims: object) => Buffer.from(JSON.stringify(claims)).toString('base64url');
  const { exp: _, ...withoutEnd } = claimsOf(tenant);
  const { role: _role, ...withoutRole } = claimsOf(tenant);
  return [
    ['no session at all', 'nonsense'],
    ['a session without its signature', payload],
    ['a session with an empty signature', `${payload}.`],
    ['a session with another payload', `${payloadOf(claimsOf(tenant, { workspace: 'acc_other' }))}.${signature}`],
    ['a session with a longer life', `${payloadOf(claimsOf(tenant, { exp: nowS() + 1e6 }))}.${signature}`],
    ['a session with another signature', `${payload}.${changed(signature, 0)}`],
    ['a session with something after it', `${session}.x`],
    ['a session that has ended', sign(claimsOf(tenant, { exp: nowS() - 1 }))],
    ['a session that begins in an hour', sign(claimsOf(tenant, { iat: nowS() + 3_600, exp: nowS() + 7_200 }))],
    ['a session without an end', sign(withoutEnd as SessionClaims)],
    ['a session signed with another secret', sign(claimsOf(tenant), 'another-secret-of-some-length')],
    ['a session signed with the secret of the stamps', sign(claimsOf(tenant), TEST_SECRETS.ADMIN_SECRET)],
    ['a session that was signed out of', endedSession],
    ['a session of a removed member', removed.session],
    ...removed.sessions,
    ['a deploy token that was revoked', revokedDeployToken],
    ['a deploy token that a removed member made', removed.deployToken],
    ['a deploy token that nobody gave', sign(claimsOf(tenant, { role: 'deployer' }))],
    ['a session of an unknown role', sign(claimsOf(tenant, { role: 'root' as 'owner' }))],
    ['a session without a role', sign(withoutRole as SessionClaims)],
    ['a session of no workspace', sign(claimsOf(tenant, { workspace: '', customer_id: '' }))],
    ['an API key', apiKey],
    ['the operator token', TEST_SECRETS.OPERATOR_TOKEN],
  ];
}

const inHeader = (session: string) => ({ 'x-service-session': session });
const inCookie = (session: string) => ({ cookie: `service_session=${session}` });

const shownAsBearer = (tokens: readonly [name: string, token: string][], expected: Refusal): WrongCredential[] =>
  tokens.map(([name, token]) => ({ name, headers: { authorization: `Bearer ${token}` }, expected }));

/** At the control plane's own listener. */
function directly(material: Material, endpoint: Endpoint): WrongCredential[] {
  const { apiKey, session } = material.tenant;
  const stamp = stampOf(material, endpoint);
  return [
    { name: 'nothing', headers: {}, expected: NO_SESSION },
    { name: 'an empty session', headers: inHeader(''), expected: NO_SESSION },
    { name: 'an API key as bearer', headers: { authorization: `Bearer ${apiKey}` }, expected: NO_SESSION },
    { name: 'a session as bearer', headers: { authorization: `Bearer ${session}` }, expected: NO_SESSION },
    { name: 'a session cookie', headers: inCookie(session), expected: NO_SESSION },
    { name: 'a stamp alone', headers: { 'x-service-admin': stamp({}) }, expected: NO_SESSION },
    { name: 'the operator token', headers: { 'x-operator-token': TEST_SECRETS.OPERATOR_TOKEN }, expected: NO_SESSION },
    ...(endpoint.credential === 'identity' ? [] : shownAsBearer(rightTokens(material), NO_SESSION)),
    ...wrongSessions(material).map(([name, wrong]) => ({ name, headers: inHeader(wrong), expected: NO_SESSION })),
  ];
}

/** Through the browser proxy, which itself refuses what is not even shaped like a session. */
function throughProxy(material: Material, endpoint: Endpoint): WrongCredential[] {
  const { session } = material.tenant;
  return [
    ...withoutCookie(material, endpoint),
    {
      name: 'a session header beside a cookie that is none',
      headers: { ...inHeader(session), ...inCookie('nonsense') },
      expected: NO_SESSION,
    },
    ...wrongSessions(material).map(([name, wrong]) => ({ name, headers: inCookie(wrong), expected: NO_SESSION })),
  ];
}

/** Whatever the endpoint asks for, through the proxy it is reached by who is signed in. */
function withoutCookie(material: Material, endpoint: Endpoint): WrongCredential[] {
  const { apiKey, session } = material.tenant;
  const stamp = stampOf(material, endpoint);
  return [
    { name: 'nothing', headers: {}, expected: NO_COOKIE },
    { name: 'an empty cookie', headers: inCookie(''), expected: NO_COOKIE },
    { name: 'a cookie with a space', headers: inCookie('a%20b'), expected: NO_COOKIE },
    { name: 'a cookie with a line break', headers: inCookie(`${session}%0d%0ax-service-admin:1`), expected: NO_COOKIE },
    { name: 'another cookie', headers: { cookie: `session=${session}` }, expected: NO_COOKIE },
    { name: 'an API key as bearer', headers: { authorization: `Bearer ${apiKey}` }, expected: NO_COOKIE },
    { name: 'a session as bearer', headers: { authorization: `Bearer ${session}` }, expected: NO_COOKIE },
    { name: 'a session header', headers: inHeader(session), expected: NO_COOKIE },
    {
      name: 'a session header and a stamp',
      headers: { ...inHeader(session), 'x-service-admin': stamp({}) },
      expected: NO_COOKIE,
    },
    ...shownAsBearer(rightTokens(material), NO_COOKIE),
    { name: 'the operator token', headers: operatorHeader(TEST_SECRETS.OPERATOR_TOKEN), expected: NO_COOKIE },
  ];
}

const operatorHeader = (token: string) => ({ 'x-operator-token': token });

/** A session, of whatever role, opens nothing that is the operator's. */
function wrongOperators(
  material: Material,
  endpoint: Endpoint,
): { direct: WrongCredential[]; proxied: WrongCredential[] } {
  const { apiKey, session } = material.tenant;
  const token = TEST_SECRETS.OPERATOR_TOKEN;
  const tokens: [name: string, headers: Record<string, string>][] = [
    ['no token', {}],
    ['an empty token', operatorHeader('')],
    ['another token', operatorHeader(changed(token, 0))],
    ['a token that is cut off', operatorHeader(token.slice(0, -1))],
    ['a token with something after it', operatorHeader(`${token}x`)],
    ['a token in upper case', operatorHeader(token.toUpperCase())],
    ['two tokens', operatorHeader(`${token}, ${token}`)],
    ['what is hashed of the token', operatorHeader(sha256(token))],
    ['the token as bearer', { authorization: `Bearer ${token}` }],
    ['the token in a cookie', { cookie: `x-operator-token=${token}` }],
    ['an API key', operatorHeader(apiKey)],
    ['a session', operatorHeader(session)],
  ];
  const stamp = stampOf(material, endpoint)({});
  const direct: typeof tokens = [
    ...tokens,
    ["an owner's session", inHeader(session)],
    ["an owner's session and a stamp", { ...inHeader(session), 'x-service-admin': stamp }],
    ...rightTokens(material).map(([name, token]): (typeof tokens)[number] => [
      name,
      { authorization: `Bearer ${token}` },
    ]),
  ];
  return {
    direct: direct.map(([name, headers]) => ({ name, headers, expected: NO_OPERATOR })),
    proxied: tokens.map(([name, headers]) => ({
      name: `${name}, signed in`,
      headers: { ...headers, ...inCookie(session) },
      expected: NO_OPERATOR,
    })),
  };
}

/** Everybody's session but the deployment's own. */
function foreignSessions({ tenant }: Material): [name: string, session: string][] {
  const { caller } = tenant;
  return [
    ['an owner of another workspace', tenant.session],
    ['a member of another workspace', sign(claimsOf(tenant, { role: 'member' }))],
    ['a session that only says the slug', sign(claimsOf(tenant, { customer_id: 'internal' }))],
    ['a workspace of nearly the same name', sign(claimsOf(tenant, { workspace: 'acc_Internal', sub: caller.actor }))],
  ];
}

interface StampChange {
  secret?: string;
  ageS?: number;
  sub?: string;
  method?: string;
  path?: string;
}

/** Stamps for this endpoint, with path parameters as `matrixPath` fills them. */
const stampOf =
  ({ tenant }: Material, endpoint: Endpoint) =>
  ({ secret = TEST_SECRETS.ADMIN_SECRET, ageS = 0, ...change }: StampChange) =>
    signAdminStamp(
      { sub: tenant.caller.actor, method: endpoint.method, path: matrixPath(endpoint), ...change },
      secret,
      nowS() - ageS,
    );

/** A valid session is not enough for an admin route, whatever role it says. */
function wrongStamps(
  material: Material,
  endpoint: Endpoint,
): { direct: WrongCredential[]; proxied: WrongCredential[] } {
  const { tenant } = material;
  const stamp = stampOf(material, endpoint);
  const member = sign(claimsOf(tenant, { role: 'member' }));
  const withStamp = (name: string, text: string): WrongCredential => ({
    name,
    headers: { ...inHeader(tenant.session), 'x-service-admin': text },
    expected: NOT_ADMIN,
  });
  return {
    direct: [
      { name: 'an owner without a stamp', headers: inHeader(tenant.session), expected: NOT_ADMIN },
      { name: 'a member without a stamp', headers: inHeader(member), expected: NOT_ADMIN },
      {
        name: 'a member with a valid stamp',
        headers: { ...inHeader(member), 'x-service-admin': stamp({}) },
        expected: NOT_ADMIN,
      },
      withStamp('an empty stamp', ''),
      withStamp('a stamp that is none', 't=1,v1=00'),
      withStamp('a stale stamp', stamp({ ageS: 302 })),
      withStamp('a stamp of the future', stamp({ ageS: -3_600 })),
      withStamp('a stamp for another path', stamp({ path: `${matrixPath(endpoint)}/more` })),
      withStamp('a stamp for another method', stamp({ method: endpoint.method === 'get' ? 'post' : 'get' })),
      withStamp('a stamp for another person', stamp({ sub: 'somebody@else.example' })),
      withStamp('a stamp signed with another secret', stamp({ secret: TEST_SECRETS.SESSION_SECRET })),
    ],
    proxied: [
      { name: 'a member', headers: inCookie(member), expected: NOT_ADMIN },
      { name: 'a viewer', headers: inCookie(viewerOf(material)), expected: NOT_ADMIN },
      {
        name: 'a member who sends a valid stamp along',
        headers: { ...inCookie(member), 'x-service-admin': stamp({}) },
        expected: NOT_ADMIN,
      },
    ],
  };
}

export interface Matrix {
  /** At the gateway, where the endpoint is reached by callers. */
  atGateway: WrongCredential[];
  /** At the control plane's own listener, for endpoints that it serves. */
  atControlPlane: WrongCredential[];
}

/** A right session of somebody who only looks; an endpoint that asks for more refuses it for that first. */
const viewerOf = ({ tenant }: Material): string => sign(claimsOf(tenant, { role: 'viewer' }));
function viewers(
  material: Material,
  { method, right }: Endpoint,
  inPlace: (session: string) => Record<string, string>,
): WrongCredential[] {
  if (method === 'get' && right !== 'workspace.change') return [];
  const asked = right === 'workspace.export' ? NOT_OWNER : NOT_ADMIN;
  const expected = right && right !== 'workspace.change' && !isEnough(right) ? asked : ONLY_LOOKS;
  return [{ name: 'a viewer', headers: inPlace(viewerOf(material)), expected }];
}

/** A right token of a pipeline, for what is not of files. */
function pipelines(
  { deployToken }: Material,
  { right, credential }: Endpoint,
  inPlace: (session: string) => Record<string, string>,
): WrongCredential[] {
  if (right && isEnough(right)) return [];
  const expected = credential === 'admin' ? NOT_ADMIN : credential === 'internal' ? NOT_INTERNAL : ONLY_DEPLOYS;
  return [{ name: 'a deploy token', headers: inPlace(deployToken), expected }];
}

/** Where a session is shown, at both listeners. */
const ofSessions = (material: Material, endpoint: Endpoint): Matrix => ({
  atGateway: [
    ...throughProxy(material, endpoint),
    ...viewers(material, endpoint, inCookie),
    ...pipelines(material, endpoint, inCookie),
  ],
  atControlPlane: [
    ...directly(material, endpoint),
    ...viewers(material, endpoint, inHeader),
    ...pipelines(material, endpoint, inHeader),
  ],
});

const MATRIX: Record<Credential, (material: Material, endpoint: Endpoint) => Matrix> = {
  'api-key': (material) => ({ atGateway: wrongKeys(material), atControlPlane: [] }),
  session: ofSessions,
  admin: (material, endpoint) => {
    const { direct, proxied } = wrongStamps(material, endpoint);
    return {
      atGateway: [...throughProxy(material, endpoint), ...proxied, ...pipelines(material, endpoint, inCookie)],
      atControlPlane: [...directly(material, endpoint), ...direct, ...pipelines(material, endpoint, inHeader)],
    };
  },
  internal: (material, endpoint) => {
    const foreign = foreignSessions(material);
    return {
      atGateway: [
        ...throughProxy(material, endpoint),
        ...pipelines(material, endpoint, inCookie),
        ...foreign.map(([name, session]) => ({ name, headers: inCookie(session), expected: NOT_INTERNAL })),
      ],
      atControlPlane: [
        ...directly(material, endpoint),
        ...pipelines(material, endpoint, inHeader),
        ...foreign.map(([name, session]) => ({ name, headers: inHeader(session), expected: NOT_INTERNAL })),
      ],
    };
  },
  identity: (material, endpoint) => {
    const tokens: [name: string, token: string][] = [
      ...material.wrongTokens,
      ...material.removed.tokens,
      ...material.unknownTokens,
      ...wrongSessions(material).map(([name, wrong]): [string, string] => [`${name} as bearer`, wrong]),
    ];
    const besideSession = { authorization: `Bearer ${material.identityToken}`, ...inHeader('nonsense') };
    const { atGateway, atControlPlane } = ofSessions(material, endpoint);
    return {
      atGateway,
      atControlPlane: [
        ...atControlPlane,
        ...shownAsBearer(tokens, NO_SESSION),
        ...(endpoint.right ? shownAsBearer(material.rolelessTokens, NOT_ADMIN) : []),
        ...viewers(material, endpoint, inHeader).flatMap(({ expected }) =>
          shownAsBearer(material.lookingTokens, expected),
        ),
        { name: 'a right token beside a session that is none', headers: besideSession, expected: NO_SESSION },
        {
          name: 'a token in another scheme',
          headers: { authorization: `Basic ${material.identityToken}` },
          expected: NO_SESSION,
        },
      ],
    };
  },
  operator: (material, endpoint) => {
    const { direct, proxied } = wrongOperators(material, endpoint);
    return { atGateway: [...withoutCookie(material, endpoint), ...proxied], atControlPlane: direct };
  },
  // Its handler checks the signature over the body, which is no matter of headers.
  provider: (material, endpoint) => ({ atGateway: withoutCookie(material, endpoint), atControlPlane: [] }),
};

export const wrongCredentials = (endpoint: Endpoint, material: Material): Matrix =>
  MATRIX[endpoint.credential](material, endpoint);

/** No row has this id in any form: what is refused is the credential, and what is let through changes nothing. */
export const matrixPath = ({ path }: Pick<Endpoint, 'path'>): string => path.replace(/\{\w+\}/g, '999999999');
