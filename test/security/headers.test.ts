/** What every answer tells a browser that it may do with it, of every surface: generated from the declared endpoints. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { first } from '../../src/platform/core/present.ts';
import { picture } from '../support/fixtures/belongings.ts';
import { byId, endpoints } from '../support/http/endpoints.ts';
import { credentialsOf } from '../support/http/send.ts';
import { call, GATEWAYS, startTestService, type Tenant, type TestService } from '../support/service/service.ts';
import { tried } from '../support/runner/sizes.ts';
import { matrixPath } from '../support/security/wrong-credentials.ts';

let service: TestService;
let tenant: Tenant;

/** The defaults of helmet, which nothing may weaken. */
function expectSafe(headers: Headers): void {
  const policy = headers.get('content-security-policy') ?? '';
  expect(Object.fromEntries(headers)).toMatchObject({
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'SAMEORIGIN',
    'referrer-policy': expect.stringMatching(/^(no-referrer|same-origin)$/),
    'strict-transport-security': expect.stringContaining('max-age='),
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  });
  expect(policy).toMatch(/default-src '(none|self)'/);
  expect(policy).toMatch(/base-uri '(none|self)'/);
  expect(policy).toMatch(/frame-ancestors '(none|self)'/);
  const scripts = /script-src ([^;]*)/.exec(policy)?.[1] ?? "'none'";
  // Of this origin or with a nonce. A miniapp is a tenant's own page, so its scripts run in a sandbox without an origin.
  const isSandboxed = /(^|; ?)sandbox(?!.*allow-same-origin)/.test(policy);
  expect(scripts).not.toMatch(isSandboxed ? /\*|https?:/ : /unsafe|\*|https?:/);
  expect(headers.get('x-powered-by')).toBeNull();
  expect(headers.get('access-control-allow-origin')).toBeNull();
  tried('answers with safe headers');
}

describe.each(GATEWAYS)('%s', (_mode, { split }) => {
  beforeAll(async () => {
    service = await startTestService({ worker: false, split });
    tenant = await service.tenant('acc_acme');
  });
  afterAll(() => service?.close());

  // Guards: no answer of an endpoint, success or refusal, at either listener, is a page or a script to a browser.
  test.each(byId())('%s', async (_id, endpoint) => {
    const prefix = endpoint.surface === 'public' ? '' : '/api/v1/cp';
    const path = matrixPath(endpoint);
    for (const url of [`${service.baseUrl}${prefix}${path}`, service.controlPlaneUrl + path]) {
      for (const credentials of [{}, credentialsOf(tenant, endpoint)]) {
        expectSafe((await call(url, endpoint.method.toUpperCase(), credentials)).headers);
      }
    }
  });

  // Guards: a picture that a tenant uploaded is served as a picture. For attachments see test/resources/attachments.
  test('an avatar', async () => {
    await tenant.cp('POST', '/v1/agents', { slug: 'seen', model: 'offline', prompt: 'You are seen.' });
    const form = new FormData();
    form.set('file', new Blob([await picture()]), 'avatar.html');
    expect((await tenant.cp('PUT', '/v1/agents/seen/avatar', form)).status).toBeLessThan(300);
    const { headers } = await tenant.cp('GET', '/v1/agents/seen/avatar');
    expectSafe(headers);
    expect(headers.get('content-type')).toBe('image/webp');
  });

  // Guards: pages for people run their own scripts and no others.
  test.each([
    '/docs',
    '/docs/control-plane',
    '/login',
    '/miniapps/nobodys',
    '/openapi/public.json',
    '/healthz',
    '/readyz',
  ])('the page %s', async (path) => {
    const { headers } = await call(service.baseUrl + path, 'GET', {});
    expectSafe(headers);
  });

  // Guards: what is large is sent small to whoever takes that, from whichever part of the service it comes, and a cache
  // on the way knows that it depends on that; what is small is sent as it is.
  test.each([
    ['/docs/assets/swagger-ui.css', true],
    ['/openapi/public.json', true],
    ['/api/v1/cp/v1/agents', true],
    ['/healthz', false],
    ['/api/v1/cp/v1/runs/none', false],
  ])('%s is compressed: %s', async (path, isLarge) => {
    const ask = async (encoding: string) => {
      const headers = { cookie: `service_session=${tenant.session}`, 'accept-encoding': encoding };
      const answer = await fetch(service.baseUrl + path, { headers });
      return {
        encoding: answer.headers.get('content-encoding'),
        vary: answer.headers.get('vary'),
        text: await answer.text(),
      };
    };
    const [packed, plain] = [await ask('gzip'), await ask('identity')];
    expect(packed.text).toBe(plain.text);
    expect([packed.encoding, plain.encoding]).toEqual([isLarge ? 'gzip' : null, null]);
    if (isLarge) for (const { vary } of [packed, plain]) expect(vary).toMatch(/accept-encoding/i);
  });

  test('metrics are compressed', async () => {
    const { headers } = await fetch(`${service.controlPlaneUrl}/metrics`, { headers: { 'accept-encoding': 'gzip' } });
    expect(headers.get('content-encoding')).toBe('gzip');
  });

  // Guards: unknown addresses, unknown methods and malformed requests get the same headers.
  test.each([
    ['GET', '/v1/nothing', undefined],
    ['OPTIONS', '/v1/runs', undefined],
    ['POST', '/v1/runs', '{'],
    ['GET', '/%', undefined],
  ])('the refusal of %s %s', async (method, path, body) => {
    const init = { method, headers: credentialsOf(tenant, first(endpoints)), ...(body && { body }) };
    expectSafe((await fetch(service.baseUrl + path, init)).headers);
  });
});
