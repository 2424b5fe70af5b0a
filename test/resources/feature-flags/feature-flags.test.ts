/** /v1/feature-flags: the operator switches, everybody reads what holds for them and nothing of anybody else. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { isOnFor } from '../../../src/resources/feature-flags/model.ts';
import { call, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let service: TestService;
let operator: Tenant;
let acme: Tenant;
let other: Tenant;

beforeAll(async () => {
  service = await startTestService({ worker: false });
  operator = await service.tenant('acc_internal', 'internal');
  acme = await service.tenant('acc_acme');
  other = await service.tenant('acc_other');
});
afterAll(() => service.close());

const put = (name: string, body: unknown) => operator.cp('PUT', `/v1/feature-flags/${name}`, body);
const flagsOf = async (tenant: Tenant) => (await tenant.cp('GET', '/v1/feature-flags')).body;

// Guards: an exception holds for its workspace alone, and only the operator learns of it.
test('is what it is for each workspace', async () => {
  const made = await put('chat.voice-notes', { enabled: false, description: 'Voice', workspaces: { acme: true } });
  expect(made).toMatchObject({
    status: 200,
    body: { name: 'chat.voice-notes', description: 'Voice', default_enabled: false, workspaces: { acme: true } },
  });
  expect(await flagsOf(acme)).toEqual({
    data: [{ name: 'chat.voice-notes', description: 'Voice', enabled: true, updated_at: expect.any(String) }],
    meta: { total: 1 },
  });
  const foreign = await flagsOf(other);
  expect(foreign.data[0].enabled).toBe(false);
  expect(JSON.stringify(foreign)).not.toMatch(/acme|internal/);
});

// Guards: switching a flag keeps what was not named; an empty map drops the exceptions.
test('keeps what is left out', async () => {
  await put('kept', { enabled: true, description: 'Told', workspaces: { acme: false } });
  expect((await put('kept', { enabled: false })).body).toMatchObject({
    description: 'Told',
    default_enabled: false,
    workspaces: { acme: false },
  });
  expect((await put('kept', { enabled: true, description: null, workspaces: {} })).body).toMatchObject({
    description: null,
    default_enabled: true,
    workspaces: {},
  });
  expect((await flagsOf(acme)).data.map(({ name }: { name: string }) => name)).toEqual(['chat.voice-notes', 'kept']);
});

// Guards: a tenant, its owner included, switches nothing.
test('is switched by the operator alone', async () => {
  for (const method of ['PUT', 'DELETE']) {
    const answer = await acme.cp(method, '/v1/feature-flags/kept', method === 'PUT' ? { enabled: true } : undefined);
    expect(answer).toMatchObject({ status: 403, body: { detail: 'internal_only' } });
  }
});

// Guards: bad names and bodies are the caller's mistake and never a 500; an exception for an unknown workspace is
// refused.
test.each([
  ['Upper', { enabled: true }, 422],
  ['a..b', { enabled: true }, 422],
  ['__proto__', { enabled: true }, 422],
  ['a%00b', { enabled: true }, 422],
  ['x'.repeat(65), { enabled: true }, 422],
  ['fine', {}, 422],
  ['fine', { enabled: 'yes' }, 422],
  ['fine', { enabled: true, other: 1 }, 422],
  ['fine', { enabled: true, description: 'a\u0000b' }, 422],
  ['fine', { enabled: true, workspaces: { acme: 1 } }, 422],
  ['fine', { enabled: true, workspaces: { 'No Slug': true } }, 422],
  ['fine', { enabled: true, workspaces: { nowhere: true } }, 404],
])('refuses %s %j', async (name, body, status) => {
  expect((await put(name, body)).status).toBe(status);
  expect((await flagsOf(operator)).meta.total).toBe(2);
});

// Guards: a key such as `__proto__` is no exception for anybody and breaks nothing.
test('does not take __proto__ for a workspace', async () => {
  const { status } = await call(
    `${service.baseUrl}/api/v1/cp/v1/feature-flags/proto`,
    'PUT',
    { cookie: `service_session=${operator.session}` },
    JSON.parse('{"enabled": false, "workspaces": {"__proto__": true}}'),
  );
  expect([200, 422]).toContain(status);
  expect(
    (await flagsOf(acme)).data.every(
      ({ name, enabled }: { name: string; enabled: boolean }) => name !== 'proto' || !enabled,
    ),
  ).toBe(true);
  await operator.cp('DELETE', '/v1/feature-flags/proto');
  expect(isOnFor({ enabled: false, workspaces: {} }, 'constructor')).toBe(false);
});

// Guards: deleting removes a flag for everybody; a second deletion finds nothing.
test('is deleted', async () => {
  expect((await operator.cp('DELETE', '/v1/feature-flags/kept')).status).toBe(204);
  expect((await operator.cp('DELETE', '/v1/feature-flags/kept')).status).toBe(404);
  expect((await flagsOf(acme)).meta.total).toBe(1);
});
