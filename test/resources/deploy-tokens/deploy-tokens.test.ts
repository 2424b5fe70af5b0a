/** Deploy tokens over HTTP: who makes them, what they are worth, and for how long. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { call, sessionFor, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let service: TestService;
let tenant: Tenant;
let made = 0;

beforeAll(async () => {
  service = await startTestService({ worker: false });
});
afterAll(async () => service?.close());
beforeEach(async () => {
  made += 1;
  tenant = await service.tenant(`acc_tokens_${made}`);
});

const as = (session: string, method: string, path: string, body?: unknown) =>
  call(`${service.baseUrl}/api/v1/cp${path}`, method, { cookie: `service_session=${session}` }, body);
const create = async (more: object = {}) =>
  (await tenant.cp('POST', '/v1/deploy-tokens', { name: 'ci', ...more })).body;
const list = async () => (await tenant.cp('GET', '/v1/deploy-tokens')).body.data;

// Guards: the token is in one answer; what is stored is its hash.
test('is shown once', async () => {
  const token = await create();
  expect(token).toMatchObject({ name: 'ci', actor: `deploy-token:${token.id}`, created_by: tenant.caller.actor });
  const [listed] = await list();
  expect(listed).toMatchObject({ id: token.id, last_used_at: null, revoked_at: null });
  const rows = await service.runtime.db.rows<{ text: string }>(sql`
    select row_to_json(t)::text as text from deploy_tokens t where customer_id = ${tenant.caller.customerId}`);
  expect(JSON.stringify([listed, rows])).not.toContain(token.token);
});

// Guards: it ends by itself, and says so in the list.
test('expires', async () => {
  const { id, token, expires_at: end } = await create({ expires_in_days: 1 });
  expect(Date.parse(end) - Date.now()).toBeLessThanOrEqual(24 * 3_600_000);
  expect((await as(token, 'GET', '/v1/manifests')).status).toBe(200);
  await service.runtime.db.rows(sql`
    update deploy_tokens set expires_at = now() where customer_id = ${tenant.caller.customerId} and id = ${id}`);
  expect((await as(token, 'GET', '/v1/manifests')).status).toBe(401);
  expect(await list()).toMatchObject([{ state: 'expired' }]);
  expect((await tenant.cp('POST', '/v1/deploy-tokens', { name: 'ci', expires_in_days: 366 })).status).toBe(422);
});

// Guards: owners and admins give tokens. A member could make itself a colleague that outlives it, a viewer a hand.
test('is for owners and admins to give', async () => {
  const { id, token } = await create();
  for (const role of ['member', 'viewer'] as const) {
    const session = sessionFor(tenant.caller, role);
    expect((await as(session, 'GET', '/v1/deploy-tokens')).status).toBe(403);
    expect((await as(session, 'POST', '/v1/deploy-tokens', { name: 'mine' })).status).toBe(403);
    expect((await as(session, 'DELETE', `/v1/deploy-tokens/${id}`)).status).toBe(403);
  }
  expect((await as(token, 'POST', '/v1/deploy-tokens', { name: 'mine' })).status).toBe(403);
  expect((await as(sessionFor(tenant.caller, 'admin'), 'POST', '/v1/deploy-tokens', { name: 'theirs' })).status).toBe(
    201,
  );
});

// Guards: a token is of one workspace, and another one can neither revoke it nor learn that it is there.
test('is of its workspace', async () => {
  const { id, token } = await create();
  const other = await service.tenant('acc_tokens_other');
  expect((await other.cp('DELETE', `/v1/deploy-tokens/${id}`)).status).toBe(404);
  await other.cp('POST', '/v1/manifests/apply', {
    manifests: [{ kind: 'agent', content: { slug: 'theirs', prompt: 'You are theirs.' } }],
  });
  expect((await as(token, 'GET', '/v1/manifests')).body.data).toEqual([]);
});

// Guards: there is an end to how many a workspace has, and a revoked one makes room.
test('there are not too many', async () => {
  const tokens = [];
  for (let count = 0; count < 20; count += 1) tokens.push(await create());
  expect(await tenant.cp('POST', '/v1/deploy-tokens', { name: 'one more' })).toMatchObject({ status: 409 });
  expect((await tenant.cp('DELETE', `/v1/deploy-tokens/${tokens[0].id}`)).status).toBe(204);
  expect((await tenant.cp('DELETE', `/v1/deploy-tokens/${tokens[0].id}`)).status).toBe(204);
  expect((await create()).id).toBeGreaterThan(0);
});
