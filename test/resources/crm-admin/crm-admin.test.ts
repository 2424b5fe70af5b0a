/** /v1/crm-admin: the operator's notes on customers, which no customer sees. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { newUuid } from '../../../src/platform/core/ids.ts';
import { byId, endpoints } from '../../support/http/endpoints.ts';
import { call, sessionFor, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

let service: TestService;
let operator: Tenant;
let acme: Tenant;

beforeAll(async () => {
  service = await startTestService({ worker: false });
  operator = await service.tenant('acc_internal', 'internal');
  acme = await service.tenant('acc_acme');
  await service.tenant('acc_other');
});
afterAll(() => service.close());

const CUSTOMERS = '/v1/crm-admin/customers';
const ofAcme = `${CUSTOMERS}/acme`;
const note = (text: string, path = ofAcme) => operator.cp('POST', `${path}/notes`, { text });

// Guards: status and notes are kept with their author, and the list shows the newest note.
// Guards: crm-admin.get, crm-admin.update, crm-admin.notes and crm-admin.createNote answer what they did.
test('keeps a status and notes', async () => {
  expect((await operator.cp('GET', ofAcme)).body).toMatchObject({ status: null, note_count: 0, last_note: null });
  expect(await operator.cp('PATCH', ofAcme, { status: 'trial' })).toMatchObject({
    status: 200,
    body: { status: 'trial', updated_by: operator.caller.actor, updated_at: expect.any(String) },
  });
  await operator.cp('PATCH', ofAcme, { status: 'at_risk' });
  const first = await note('  Called.  ');
  expect(first).toMatchObject({
    status: 201,
    body: { customer_id: 'acme', author: operator.caller.actor, text: 'Called.' },
  });
  const { body: second } = await note('Called back.');
  const { body } = await operator.cp('GET', `${CUSTOMERS}?status=at_risk`);
  expect(body).toEqual({
    data: [
      {
        customer_id: 'acme',
        identity_workspace_id: 'acc_acme',
        plan: 'pro_hosted',
        workspace_status: 'ready',
        status: 'at_risk',
        updated_by: operator.caller.actor,
        updated_at: expect.any(String),
        note_count: 2,
        last_note: second,
        created_at: expect.any(String),
      },
    ],
    meta: { total: 1, limit: 50, offset: 0 },
  });
  expect((await operator.cp('GET', `${ofAcme}/notes?limit=1`)).body).toEqual({
    data: [second],
    meta: { total: 2, limit: 1, offset: 0 },
  });
  expect((await operator.cp('GET', `${ofAcme}/notes?offset=1`)).body.data).toEqual([first.body]);
});

// Guards: customers without a status are listed too, are found by a part of their id, and come in pages.
test('lists every customer', async () => {
  const ids = async (query: string) =>
    (await operator.cp('GET', `${CUSTOMERS}${query}`)).body.data.map((row: { customer_id: string }) => row.customer_id);
  expect(await ids('')).toEqual(['other', 'acme', 'internal']);
  expect(await ids('?q=THE')).toEqual(['other']);
  expect(await ids('?q=%25')).toEqual([]);
  expect(await ids('?limit=1&offset=1')).toEqual(['acme']);
});

// Guards: crm-admin.deleteNote deletes a note where it is and nowhere else.
test('deletes a note', async () => {
  const { body } = await note('A mistake.');
  const gone = (path: string) => operator.cp('DELETE', path);
  expect((await gone(`${CUSTOMERS}/other/notes/${body.id}`)).status).toBe(404);
  expect((await gone(`${ofAcme}/notes/nonsense`)).status).toBe(404);
  expect((await gone(`${ofAcme}/notes/${body.id}`)).status).toBe(204);
  expect((await gone(`${ofAcme}/notes/${body.id}`)).status).toBe(404);
});

// Guards: who has left is remembered.
test('keeps the notes of an archived customer', async () => {
  await note('Will leave.', `${CUSTOMERS}/other`);
  await service.runtime.db.rows(sql`
    update workspaces set status = 'archived', archived_at = now() where customer_id = 'other'`);
  expect((await note('Has left.', `${CUSTOMERS}/other`)).status).toBe(201);
  expect((await operator.cp('GET', `${CUSTOMERS}/other`)).body).toMatchObject({
    workspace_status: 'archived',
    note_count: 2,
    last_note: { text: 'Has left.' },
  });
});

// Guards: bad input and unknown customers are told apart, and neither is a 500.
test.each([
  ['PATCH', ofAcme, { status: 'gold' }, 422],
  ['PATCH', ofAcme, {}, 422],
  ['PATCH', ofAcme, { status: 'lead', plan: 'free' }, 422],
  ['PATCH', `${CUSTOMERS}/nobody`, { status: 'lead' }, 404],
  ['POST', `${ofAcme}/notes`, { text: '  ' }, 422],
  ['POST', `${ofAcme}/notes`, { text: 'a\u0000b' }, 422],
  ['POST', `${ofAcme}/notes`, { text: 'x'.repeat(10_001) }, 422],
  ['POST', `${CUSTOMERS}/nobody/notes`, { text: 'Who?' }, 404],
  ['GET', `${CUSTOMERS}/nobody`, undefined, 404],
  ['GET', `${CUSTOMERS}/a%00b`, undefined, 422],
  ['GET', `${CUSTOMERS}/__proto__/notes`, undefined, 404],
  ['DELETE', `${CUSTOMERS}/nobody/notes/${newUuid()}`, undefined, 404],
])('%s %s %j is %i', async (method, path, body, status) => {
  expect((await operator.cp(method, path, body)).status).toBe(status);
});

// Guards: an owner of a tenant, even with a stamp, is refused before anything is read, and so is a member of the
// operator's workspace.
test.each(byId(endpoints.filter(({ id }) => id.startsWith('crm-admin.'))))(
  '%s is the operators',
  async (_id, endpoint) => {
    const path = endpoint.path.replace('{customer_id}', 'acme').replace('{note_id}', newUuid());
    const body = { patch: { status: 'lead' }, post: { text: 'Mine.' } }[endpoint.method as string];
    const method = endpoint.method.toUpperCase();
    expect(await acme.cp(method, path, body)).toMatchObject({ status: 403, body: { detail: 'internal_only' } });
    const cookie = `service_session=${sessionFor(operator.caller, 'member')}`;
    const member = await call(`${service.baseUrl}/api/v1/cp${path}`, method, { cookie }, body);
    expect(member).toMatchObject({ status: 403, body: { detail: 'admin_required' } });
  },
);
