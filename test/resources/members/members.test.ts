/** Members of a workspace: who may change them, and what it does to those who are signed in. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { present } from '../../../src/platform/core/present.ts';
import { call, sessionFor, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { addMember, client, openInbox } from '../sign-in/people.ts';

let service: TestService;
let http: ReturnType<typeof client>;
const inbox = openInbox();

beforeAll(async () => {
  service = await startTestService({ worker: false, log: inbox.log });
  http = client(service);
});
afterAll(() => service.close());

let workspaces = 0;
/** A new workspace with one owner among its members. */
async function newWorkspace() {
  const tenant = await service.tenant(`acc_team${(workspaces += 1)}`);
  const { customerId, workspaceId } = tenant.caller;
  const ownerId = await addMember(service, customerId, `owner@${customerId}.example`);
  return { tenant, customerId, ownerId, path: `/v1/workspaces/${workspaceId}/members` };
}
/** As somebody of this role in the workspace. */
const as = (tenant: Tenant, role: 'owner' | 'admin' | 'member') => (method: string, path: string, body?: unknown) =>
  call(
    `${service.baseUrl}/api/v1/cp${path}`,
    method,
    { cookie: `service_session=${sessionFor({ ...tenant.caller, actor: `${role}@x.example` }, role)}` },
    body,
  );

async function signIn(email: string): Promise<Record<string, string>> {
  const asked = await http.json('/login/code', { email });
  const { challenge_id: id } = asked.json;
  const answer = await http.json('/login/verify', { challenge_id: id, code: await inbox.codeOf(id) });
  expect(answer.status).toBe(200);
  return { service_session: present(answer.cookies.service_session) };
}
const isIn = async (cookies: Record<string, string>) =>
  (await http.get('/api/v1/cp/v1/api-keys', { cookies })).status === 200;

// Guards: members.add, members.list, members.update, members.remove: the life of a member, as an admin leads it.
test('add, list, change, remove', async () => {
  const { tenant, path } = await newWorkspace();
  const added = await tenant.cp('POST', path, { email: ' Ana@Example.com ' });
  const row = { email: 'ana@example.com', role: 'member', invited_by: tenant.caller.actor, last_login_at: null };
  expect(added).toMatchObject({ status: 201, body: row });
  expect(await tenant.cp('POST', path, { email: 'ana@example.com' })).toMatchObject({
    status: 409,
    body: { detail: 'already_exists' },
  });
  const { body } = await tenant.cp('GET', path);
  expect(body).toMatchObject({ data: [{ role: 'owner' }, row], meta: { total: 2 } });
  const { id } = added.body;
  expect(await tenant.cp('PATCH', `${path}/${id}`, { role: 'admin' })).toMatchObject({
    status: 200,
    body: { id, role: 'admin' },
  });
  expect((await tenant.cp('DELETE', `${path}/${id}`)).status).toBe(204);
  expect((await tenant.cp('DELETE', `${path}/${id}`)).status).toBe(404);
  expect((await tenant.cp('GET', path)).body.meta).toEqual({ total: 1 });
});

describe('who may', () => {
  // Guards against: members who make themselves more than they are.
  test('a member reads and changes nothing', async () => {
    const { tenant, ownerId, path } = await newWorkspace();
    const member = as(tenant, 'member');
    expect((await member('GET', path)).status).toBe(200);
    for (const [method, where] of [
      ['POST', path],
      ['PATCH', `${path}/${ownerId}`],
      ['DELETE', `${path}/${ownerId}`],
    ] as const) {
      const answer = await member(method, where, { email: 'x@x.example', role: 'admin' });
      expect(answer).toMatchObject({ status: 403, body: { detail: 'admin_required' } });
    }
  });

  // Guards: only an owner makes owners, and nobody less may demote or remove one.
  test('an admin does not touch owners', async () => {
    const { tenant, customerId, ownerId, path } = await newWorkspace();
    const other = await addMember(service, customerId, 'other@x.example', 'admin');
    const admin = as(tenant, 'admin');
    const refused = { status: 403, body: { detail: 'owner_required' } };
    expect(await admin('POST', path, { email: 'x@x.example', role: 'owner' })).toMatchObject(refused);
    expect(await admin('PATCH', `${path}/${other}`, { role: 'owner' })).toMatchObject(refused);
    expect(await admin('PATCH', `${path}/${ownerId}`, { role: 'member' })).toMatchObject(refused);
    expect(await admin('DELETE', `${path}/${ownerId}`)).toMatchObject(refused);
    expect((await admin('PATCH', `${path}/${other}`, { role: 'member' })).status).toBe(200);
    expect((await as(tenant, 'owner')('PATCH', `${path}/${other}`, { role: 'owner' })).status).toBe(200);
  });

  // Guards against: a workspace that nobody can administer any more, also when its two owners leave at once.
  test('the last owner stays', async () => {
    const { tenant, customerId, ownerId, path } = await newWorkspace();
    const refused = { status: 409, body: { detail: 'last_owner' } };
    expect(await tenant.cp('DELETE', `${path}/${ownerId}`)).toMatchObject(refused);
    expect(await tenant.cp('PATCH', `${path}/${ownerId}`, { role: 'admin' })).toMatchObject(refused);
    const second = await addMember(service, customerId, 'second@x.example');
    const both = await Promise.all([
      as(tenant, 'owner')('DELETE', `${path}/${ownerId}`),
      as(tenant, 'owner')('PATCH', `${path}/${second}`, { role: 'member' }),
    ]);
    expect(both.map(({ status }) => status).filter((status) => status === 409)).toHaveLength(1);
  });

  // Guards: members of another workspace are out of reach, except for the operator's own admins, who help those who
  // locked themselves out.
  test('foreign workspaces are unknown, but to the operator', async () => {
    const { tenant, path } = await newWorkspace();
    const { tenant: stranger } = await newWorkspace();
    for (const where of [path, '/v1/workspaces/acc_nobodys/members', '/v1/workspaces/%20/members']) {
      expect(await stranger.cp('GET', where)).toMatchObject({ status: 404, body: { detail: 'not_found' } });
      expect(await stranger.cp('POST', where, { email: 'x@x.example' })).toMatchObject({ status: 404 });
    }
    const internal = { ...tenant, caller: { ...tenant.caller, workspaceId: 'acc_internal', customerId: 'internal' } };
    expect((await as(internal, 'member')('GET', path)).status).toBe(404);
    expect((await as(internal, 'admin')('GET', path)).status).toBe(200);
    expect((await as(internal, 'owner')('POST', path, { email: 'x@x.example', role: 'owner' })).status).toBe(201);
  });

  // Guards: bad input is 422 or 404, and never a 500.
  test.each([
    [{}, 422],
    [{ email: 'nobody' }, 422],
    [{ email: ['a@b.example'] }, 422],
    [{ email: 'a\u0000@b.example' }, 422],
    [{ email: '\ud800@b.example' }, 422],
    [{ email: 'a@b.example', role: 'king' }, 422],
    [{ email: `${'a'.repeat(300)}@b.example` }, 422],
  ])('%j is refused', async (body, status) => {
    const { tenant, path } = await newWorkspace();
    expect((await tenant.cp('POST', path, body)).status).toBe(status);
    expect((await tenant.cp('PATCH', `${path}/no-uuid`, { role: 'admin' })).status).toBe(404);
    expect((await tenant.cp('PATCH', `${path}/%00`, { role: 'admin' })).status).toBe(422);
  });
});

describe('what somebody is signed in with', () => {
  // Guards against: a session that keeps its role after the member lost it, and a session of a removed person.
  test('ends with a change of role and with removal', async () => {
    const { tenant, customerId, path } = await newWorkspace();
    const email = `ana@${customerId}.example`;
    const id = await addMember(service, customerId, email, 'admin');
    const first = await signIn(email);
    const second = await signIn(email);
    const other = await signIn(`owner@${customerId}.example`);
    expect(await Promise.all([isIn(first), isIn(second)])).toEqual([true, true]);
    await tenant.cp('PATCH', `${path}/${id}`, { role: 'admin' });
    expect(await isIn(first)).toBe(true);
    await tenant.cp('PATCH', `${path}/${id}`, { role: 'member' });
    expect(await Promise.all([isIn(first), isIn(second), isIn(other)])).toEqual([false, false, true]);
    const third = await signIn(email);
    expect(await isIn(third)).toBe(true);
    const refused = await http.json('/api/v1/cp' + path, { email: 'x@x.example' }, { cookies: third });
    expect(refused.status).toBe(403);
    await tenant.cp('DELETE', `${path}/${id}`);
    expect(await isIn(third)).toBe(false);
    const asked = await http.json('/login/code', { email });
    expect(asked.status).toBe(200);
    expect(inbox.mails.filter(({ challenge_id }) => challenge_id === asked.json.challenge_id)).toEqual([]);
  });

  // Guards against: a person who signs in while being removed and stays in for the length of a session.
  test('is nothing when it is begun while its member is removed', async () => {
    const { tenant, customerId, path } = await newWorkspace();
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, async (_, i) => {
        const email = `leaver${i}@${customerId}.example`;
        const id = await addMember(service, customerId, email, 'member');
        const { challenge_id } = (await http.json('/login/code', { email })).json;
        const code = await inbox.codeOf(challenge_id);
        const [answer] = await Promise.all([
          http.json('/login/verify', { challenge_id, code }),
          tenant.cp('DELETE', `${path}/${id}`),
        ]);
        const session = answer.cookies.service_session;
        return session !== undefined && (await isIn({ service_session: session }));
      }),
    );
    expect(outcomes).toEqual(Array(12).fill(false));
  });
});

// Guards: the maker of a workspace becomes its first member, once, and only with an e-mail address.
test('a first owner is seeded once', async () => {
  const { caller } = await service.tenant('acc_seeded');
  const { members } = service.services;
  await members.seedOwner('seeded', 'api-key:1');
  await Promise.all([members.seedOwner('seeded', 'Ana@Example.com'), members.seedOwner('seeded', 'Ana@Example.com')]);
  await members.seedOwner('seeded', 'bob@example.com');
  expect((await members.list(caller, 'acc_seeded')).data).toMatchObject([{ email: 'ana@example.com', role: 'owner' }]);
});

// Guards: somebody who is invited to look sees what a member sees, is refused whatever changes something, and is asked for no
// decision; the page is told, so that it shows no buttons.
test('a viewer looks and changes nothing', async () => {
  const { tenant, path, customerId } = await newWorkspace();
  const email = `looks@${customerId}.example`;
  const added = await tenant.cp('POST', path, { email, role: 'viewer' });
  expect(added).toMatchObject({ status: 201, body: { role: 'viewer' } });
  const cookies = await signIn(email);
  const cookie = `service_session=${cookies.service_session}`;
  const ask = (method: string, address: string, body?: unknown) =>
    call(`${service.baseUrl}/api/v1/cp${address}`, method, { cookie }, body);
  for (const address of [
    '/v1/runs',
    '/v1/projects',
    '/v1/agents',
    '/v1/inbox',
    path,
    '/v1/api-keys',
    '/v1/cost/rollup',
  ]) {
    expect([address, (await ask('GET', address)).status]).toEqual([address, 200]);
  }
  const refused = await ask('POST', '/v1/runs', { agent: 'assistant', prompt: 'Hello' });
  expect(refused).toMatchObject({ status: 403, body: { detail: expect.stringContaining('read_only') } });
  expect((await ask('POST', '/v1/api-keys', { name: 'mine' })).status).toBe(403);
  expect((await tenant.cp('GET', '/v1/api-keys')).body.data.map(({ name }: { name: string }) => name)).not.toContain(
    'mine',
  );
  expect((await ask('GET', '/v1/system/session')).body.rights).toEqual(['workspace.look', 'manifests.read']);
  expect((await tenant.cp('GET', '/v1/system/session')).body.rights).toContain('workspace.change');
  const [row] = await service.runtime.db.rows<{ may: boolean[] }>(sql`
    select array[may_answer('{}', false, ${email}, 'viewer'), may_answer('{}', false, ${email}, 'member'),
      may_answer('{"approvers": {"members": ["*"]}}', false, '*', 'viewer')] as may`);
  expect(row?.may).toEqual([false, true, false]);
});
