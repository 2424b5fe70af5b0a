/** Every endpoint with every wrong credential, generated: an endpoint is covered by being declared. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { first, itemAt } from '../../src/platform/core/present.ts';
import { endpoint as declare, handle, type Endpoint } from '../../src/platform/http/endpoint.ts';
import { can, isEnough } from '../../src/platform/core/rights.ts';
import { createAuthenticate, signSession } from '../../src/platform/http/auth.ts';
import { createSurface } from '../../src/platform/http/app.ts';
import { createBrowserProxy } from '../../src/platform/http/proxy.ts';
import { listen, type HttpListener } from '../../src/platform/http/server.ts';
import {
  claimsFor,
  startIdentityProvider,
  subjectFor,
  wrongTokens,
  type IdentityProvider,
} from '../support/fakes/identity-provider.ts';
import { byId, endpoints, PUBLIC_API } from '../support/http/endpoints.ts';
import { credentialsOf } from '../support/http/send.ts';
import {
  call,
  sessionFor,
  startTestService,
  tenantOf,
  TEST_SECRETS,
  type Answer,
  type Tenant,
  type TestService,
} from '../support/service/service.ts';
import { drawn, tried } from '../support/runner/sizes.ts';
import { matrixPath, wrongCredentials } from '../support/security/wrong-credentials.ts';
import type { Material, WrongCredential } from '../support/security/wrong-keys.ts';

let service: TestService;
let tenant: Tenant;
let material: Material;
let provider: IdentityProvider;

/** Of either way of running the gateway. */
const start = async ({ split }: { split: boolean }) => {
  provider = await startIdentityProvider();
  service = await startTestService({ worker: false, split, env: provider.settings });
  tenant = await service.tenant('acc_acme');
  await service.services.members.seedOwner('acme', tenant.caller.actor);
  const { body } = await tenant.cp('POST', '/v1/api-keys', { name: 'to be revoked' });
  await tenant.cp('DELETE', `/v1/api-keys/${body.id}`);
  const elsewhere = await service.tenant('acc_elsewhere');
  await service.services.members.seedOwner('elsewhere', elsewhere.caller.actor);
  const token = (claims: object) => provider.token({ ...claimsFor(tenant), ...claims });
  const identityToken = await token({});
  await bind(identityToken);
  material = {
    tenant,
    revokedKey: body.key,
    ...(await deployTokens()),
    endedSession: await signedOut(tenant),
    removed: await removedMember(),
    identityToken,
    wrongTokens: await wrongTokens(provider, tenant),
    rolelessTokens: [
      ['an access token of a member of another workspace', await token({ email: elsewhere.caller.actor })],
    ],
    lookingTokens: await sayingLess('an access token', token, tenant.caller.actor),
    unknownTokens: await sayingLess('an access token of an unknown subject', token, 'nobody@acme.example'),
  };
};
const stop = async () => {
  await service?.close();
  await provider?.close();
};

/** Both of the same workspace. */
async function deployTokens(): Promise<Pick<Material, 'deployToken' | 'revokedDeployToken'>> {
  const [kept, revoked] = [
    await tenant.cp('POST', '/v1/deploy-tokens', { name: 'kept' }),
    await tenant.cp('POST', '/v1/deploy-tokens', { name: 'to be revoked' }),
  ];
  expect((await tenant.cp('DELETE', `/v1/deploy-tokens/${revoked.body.id}`)).status).toBe(204);
  return { deployToken: kept.body.token, revokedDeployToken: revoked.body.token };
}

async function signedOut({ caller }: Tenant): Promise<string> {
  const session = sessionFor(caller, 'owner', 1_800);
  const cookie = `service_session=${session}`;
  expect((await call(`${service.baseUrl}/logout`, 'POST', { cookie }, {})).status).toBe(204);
  return session;
}

/** What an admin of the workspace still has in hand after somebody took them out. */
async function removedMember(): Promise<Material['removed']> {
  const email = 'removed@acme.example';
  const added = await tenant.cp('POST', '/v1/workspaces/acc_acme/members', { email, role: 'admin' });
  const asRemoved = { ...tenant.caller, actor: email };
  const session = sessionFor(asRemoved, 'admin');
  const { cp } = tenantOf(service.baseUrl, asRemoved, '', session);
  const { key } = (await cp('POST', '/v1/api-keys', { name: 'made by the removed' })).body;
  const { token: deployToken } = (await cp('POST', '/v1/deploy-tokens', { name: 'made by the removed' })).body;
  const token = (claims: object) => provider.token({ ...claimsFor(tenant), email, ...claims });
  const whole = await token({});
  await bind(whole);
  expect((await tenant.cp('DELETE', `/v1/workspaces/acc_acme/members/${added.body.id}`)).status).toBe(204);
  const later = { sub: subjectFor(email), workspace: 'acc_acme', customer_id: 'acme', role: 'admin' as const };
  const signed = (claims: { sub?: string; email: string }) => {
    const iat = Math.floor(Date.now() / 1_000) + 60;
    return signSession({ ...later, ...claims, iat, exp: iat + 3_600 }, TEST_SECRETS.SESSION_SECRET);
  };
  return {
    session,
    sessions: [
      ['a session that was signed after the removal', signed({ sub: email, email })],
      ['a session by subject that was signed after the removal', signed({ email })],
      ['a session by subject alone that was signed after the removal', signed({ email: '' })],
    ],
    tokens: [
      ['an access token of a removed member', whole],
      [
        'an access token of a removed member by another address',
        await token({ email: 'new@x.example', sub: later.sub }),
      ],
      ...(await sayingLess('an access token of a removed member', token, email)),
    ],
    apiKey: key,
    deployToken,
  };
}

/** Shows a token that says everything once, as its bearer does at first. */
async function bind(token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  expect((await call(`${service.controlPlaneUrl}/v1/workspaces/acc_acme`, 'GET', headers)).status).toBe(200);
}

/** Tokens of one subject that do not say who it is. */
async function sayingLess(
  name: string,
  token: (claims: object) => Promise<string>,
  email: string,
): Promise<[name: string, token: string][]> {
  const sub = subjectFor(email);
  return [
    [`${name} without an e-mail address`, await token({ sub, email: undefined })],
    [`${name} with an address that is not confirmed`, await token({ sub, email, email_verified: false })],
    [
      `${name} with another one that is not confirmed`,
      await token({ sub, email: 'x@y.example', email_verified: false }),
    ],
  ];
}

/** Sends each and gives those that were not refused exactly as they must be. */
async function notRefused(method: string, url: string, wrong: readonly WrongCredential[]) {
  const answers = await Promise.all(
    wrong.map(async ({ name, headers, expected }) => {
      const { status, body, headers: replied } = await call(url, method.toUpperCase(), headers);
      const type = typeof expected.body === 'string' ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8';
      const got = { status, body, type: replied.get('content-type') };
      return { name, got, expected: { ...expected, type } };
    }),
  );
  return answers.filter(({ got, expected }) => JSON.stringify(got) !== JSON.stringify(expected));
}

/** @param gateway with the proxy's prefix where the endpoint is behind it */
async function expectRefusals(endpoint: Endpoint, gateway: string, controlPlane: string | undefined): Promise<void> {
  const { atGateway, atControlPlane } = wrongCredentials(endpoint, material);
  const path = matrixPath(endpoint);
  expect(await notRefused(endpoint.method, gateway + path, atGateway)).toEqual([]);
  const direct = controlPlane === undefined ? [] : atControlPlane;
  expect(await notRefused(endpoint.method, controlPlane + path, direct)).toEqual([]);
  expect(atGateway.length + atControlPlane.length).toBeGreaterThan(10);
  tried('endpoints');
  tried('wrong credentials refused', atGateway.length + direct.length);
}

const gatewayOf = ({ surface }: Endpoint) => (surface === 'public' ? service.baseUrl : `${service.baseUrl}/api/v1/cp`);
const REFUSED = [401, 403];
const statusOf = async (address: string, endpoint: Endpoint, headers: Record<string, string>) =>
  (await call(address + matrixPath(endpoint), endpoint.method.toUpperCase(), headers)).status;

describe('in one process', () => {
  beforeAll(() => start({ split: false }));
  afterAll(stop);

  describe.each(byId())('%s', (_id, endpoint) => {
    // Guards: section 5 of the specification, to the byte. No endpoint does anything without its credential.
    test('refuses every wrong credential', () =>
      expectRefusals(endpoint, gatewayOf(endpoint), service.controlPlaneUrl));

    // Guards: the test above can fail: with the right credential the same request succeeds, at either listener.
    test('takes the right one', async () => {
      const ways: [string, Record<string, string>][] = [[gatewayOf(endpoint), credentialsOf(tenant, endpoint)]];
      if (endpoint.credential === 'session')
        ways.push([service.controlPlaneUrl, { 'x-service-session': tenant.session }]);
      // Whoever only looks sees all that a member sees.
      if (endpoint.method === 'get' && !endpoint.right && ['session', 'identity'].includes(endpoint.credential))
        ways.push([service.controlPlaneUrl, { 'x-service-session': sessionFor(tenant.caller, 'viewer') }]);
      // A pipeline reads and brings files.
      if (endpoint.right && isEnough(endpoint.right))
        ways.push([service.controlPlaneUrl, { 'x-service-session': material.deployToken }]);
      if (endpoint.credential === 'identity') {
        // A token whose bearer has no role is for what asks for none.
        const looking = endpoint.method === 'get' ? material.lookingTokens : [];
        const tokens = endpoint.right ? [] : [...material.rolelessTokens, ...looking].map(([, token]) => token);
        for (const token of [material.identityToken, ...tokens])
          ways.push([service.controlPlaneUrl, { authorization: `Bearer ${token}` }]);
      }
      for (const [address, headers] of ways) {
        const status = await statusOf(address, endpoint, headers);
        expect(REFUSED).not.toContain(status);
        expect(status).toBeLessThan(500);
      }
    });
  });

  // Guards: the matrix covers exactly the endpoints that are served.
  test('covers what is served', () => {
    expect(service.routes.map(({ endpoint }) => endpoint.id)).toEqual(endpoints.map(({ id }) => id));
  });

  // Guards: a bearer token without a role starts no destruction, not even of its own workspace.
  test('nobody without a role takes a workspace down', async () => {
    const { rolelessTokens, lookingTokens, unknownTokens, removed } = material;
    const refused = [...unknownTokens, ...removed.tokens].map(([, token]) => token);
    for (const token of [...[...rolelessTokens, ...lookingTokens].map(([, each]) => each), ...refused]) {
      const headers = { authorization: `Bearer ${token}` };
      const { status } = await call(`${service.controlPlaneUrl}/v1/workspaces/acc_acme`, 'DELETE', headers);
      expect(status).toBe(refused.includes(token) ? 401 : 403);
    }
    const row = await service.services.stores.workspaces.find('acc_acme');
    expect(row).toMatchObject({ status: 'ready', destroyingSince: null, generation: 0 });
  });

  adminRoutes();
  theGateway();
});

describe('in split mode', () => {
  beforeAll(() => start({ split: true }));
  afterAll(stop);

  const behind = endpoints.filter(({ surface }) => surface === 'control-plane');
  describe.each(byId(drawn('split mode', behind, behind.length / 3)))('%s', (_id, endpoint) => {
    // Guards: a gateway in its own process refuses the same requests as one with the control plane in it, and passes on
    // the right one.
    test('refuses every wrong credential and takes the right one', async () => {
      await expectRefusals(endpoint, gatewayOf(endpoint), undefined);
      const status = await statusOf(gatewayOf(endpoint), endpoint, credentialsOf(tenant, endpoint));
      expect(REFUSED).not.toContain(status);
      expect(status).toBeLessThan(500);
    });
  });

  theGateway();
});

/** Made of the product's own parts, whatever admin routes it has. */
function adminRoutes(): void {
  describe('admin routes', () => {
    const route = handle(
      declare({
        id: 'customers.rename',
        surface: 'control-plane',
        method: 'post',
        path: '/v1/customers/{id}/name',
        credential: 'admin',
        summary: 'Stands for every admin route',
        params: z.object({ id: z.string() }),
        status: 200,
        reply: z.object({ isAdmin: z.boolean() }),
      }),
      async ({ caller }) => ({ isAdmin: can(caller, 'admin.routes') }),
    );
    const open: HttpListener[] = [];
    let direct: string;
    let gateway: string;

    beforeAll(async () => {
      const { SESSION_SECRET: sessionSecret, ADMIN_SECRET: adminSecret } = TEST_SECRETS;
      const { log } = service.runtime;
      const authenticate = createAuthenticate({
        sessionSecret,
        adminSecret,
        operatorToken: '',
        findSession: service.services.signIn.sessions.find,
        apiKeyCaller: service.services.apiKeys.caller,
        identityCaller: service.services.identityCaller,
      });
      const surface = () => createSurface({ routes: [route], authenticate });
      const forward = surface();
      const proxy = createBrowserProxy({ sessionSecret, adminSecret, routes: [route], forward });
      const options = { port: 0, setting: 'PORT', log, ready: async () => {} };
      open.push(await listen({ ...options, routers: [surface()] }));
      open.push(await listen({ ...options, routers: [['/api/v1/cp', proxy]] }));
      direct = first(open).url;
      gateway = `${itemAt(open, 1).url}/api/v1/cp`;
    });
    afterAll(() => Promise.all(open.map((listener) => listener.close(0))));

    // Guards: neither a session alone, of any role, nor a stamp for another request opens an admin endpoint.
    test('refuse every wrong credential', () => expectRefusals(route.endpoint, gateway, direct));

    // Guards: the proxy stamps the requests of owners and admins, so that they succeed.
    test.each(['owner', 'admin'] as const)('take an %s', async (role) => {
      const cookie = `service_session=${sessionFor(tenant.caller, role)}`;
      const answer = await call(gateway + matrixPath(route.endpoint), 'POST', { cookie });
      expect(answer).toMatchObject({ status: 200, body: { isAdmin: true } });
    });
  });
}

function theGateway(): void {
  describe('the gateway', () => {
    const ADDRESSES = [
      ...new Set(endpoints.map(({ path }) => path)),
      ...['/v1', '/v1/', '/v1/nothing', '/v1/keys', '/v1/runs/1/status', '/v1/system/health', '/v1/memory/entries'],
      ...[
        '/v1/billing/catalog',
        '/v1/customers',
        '/v2/agents',
        '/V1/agents',
        '/v1/Agents',
        '/v1/agents%2F',
        '/v1//agents',
      ],
      ...['/v1/agents/x', '/v1/webhooks/1/x', '/v1/api/v1/cp/v1/runs', '/cp/v1/runs', '/metrics', '/v1/openapi.json'],
    ];
    const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
    const nine = Object.keys(PUBLIC_API).map((address) => new RegExp(`^${address.replace('{}', '[^/]+')}$`));
    const outside = ADDRESSES.flatMap((path) =>
      METHODS.map((method) => ({ method, path: matrixPath({ path }) })).filter(
        ({ method, path }) => !nine.some((address) => address.test(`${method} ${path}`)),
      ),
    );

    // Guards: the allowlist. The public API has nine endpoints, and no credential opens another.
    test.each(['nobody', 'a key', 'a session'])('has nothing beside the nine for %s', async (who) => {
      const holding: Record<string, Record<string, string>> = {
        'a key': { authorization: `Bearer ${tenant.apiKey}` },
        'a session': { cookie: `service_session=${tenant.session}`, 'x-service-session': tenant.session },
      };
      const found: [string, Answer][] = [];
      for (const { method, path } of outside) {
        const answer = await call(service.baseUrl + path, method, holding[who] ?? {});
        if (answer.status !== 404 || JSON.stringify(answer.body) !== '{"detail":"not_found"}')
          found.push([`${method} ${path}`, answer]);
      }
      expect(found).toEqual([]);
      expect(outside.length).toBeGreaterThan(100);
      tried('addresses beside the nine', outside.length);
    });

    // Guards: the cookie says who calls. Headers that only the proxy may set are removed from requests.
    test('does not believe headers that it sets itself', async () => {
      const other = await service.tenant('acc_spoofed');
      const { body } = await call(`${service.baseUrl}/api/v1/cp/v1/api-keys`, 'GET', {
        cookie: `service_session=${tenant.session}`,
        'x-service-session': other.session,
        'X-Service-Customer': 'spoofed',
        'x-service-admin': 't=1,v1=0',
      });
      expect(body.data.map((key: { customer_id: string }) => key.customer_id)).toEqual(['acme', 'acme', 'acme']);
    });
  });
}
