/** Workspaces over HTTP: who may do what to which, and what each refusal says. Provisioned here, by the local one. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { present } from '../../../src/platform/core/present.ts';
import { standingIn } from '../../../src/platform/core/rights.ts';
import { INTERNAL_WORKSPACE } from '../../../src/platform/core/ids.ts';
import type { Caller } from '../../../src/platform/http/endpoint.ts';
import {
  call,
  eventually,
  startTestService,
  TEST_SECRETS,
  type Answer,
  type Tenant,
  type TestService,
} from '../../support/service/service.ts';
import { askAs, INTERNAL } from './asking.ts';
import { lookAfterWorkspaces as lookAfter } from '../../support/service/housekeeping.ts';

let service: TestService;
let tenant: Tenant;

const as = (caller: Caller, role?: 'owner' | 'admin' | 'member') => askAs(service, caller, role);
const operators = (...request: Parameters<ReturnType<typeof as>>) => as(INTERNAL)(...request);
const setState = (id: string, body: unknown, token?: string) =>
  call(
    `${service.controlPlaneUrl}/v1/workspaces/${id}/state`,
    'PATCH',
    token === '' ? {} : { 'x-operator-token': token ?? TEST_SECRETS.OPERATOR_TOKEN },
    body,
  );
const strangerOf = (workspaceId: string): Caller => ({
  workspaceId,
  customerId: workspaceId.slice(4),
  actor: `owner@${workspaceId.slice(4)}.example`,
  standing: standingIn(workspaceId, 'owner'),
});

let nth = 0;
let id = '';
beforeEach(() => {
  id = `acc_made-${++nth}`;
});

const make = async (more: object = {}): Promise<Answer> => {
  const made = await operators('POST', '', { identity_workspace_id: id, plan: 'free', ...more });
  if (made.status !== 201) throw new Error(`not made: ${made.status} ${JSON.stringify(made.body)}`);
  return made;
};
const reaching = (status: string, workspaceId = id) =>
  eventually(async () => {
    const { body } = await operators('GET', `/${workspaceId}`);
    if (body.status !== status) throw new Error(`${workspaceId} is ${body.status} ${body.error_code}`);
    return body;
  });
const rowOf = async (workspaceId = id) => present(await service.services.stores.workspaces.find(workspaceId));
/** Puts a row into a state that nothing leads to here. */
const force = (status: string, more = sql``) =>
  service.runtime.db.rows(
    sql`update workspaces set status = ${status}::workspace_status ${more} where identity_workspace_id = ${id}`,
  );

beforeAll(async () => {
  service = await startTestService({ env: { PROVISIONER_RETRY_INITIAL: '10ms', HOUSEKEEPING_INTERVAL: '1h' } });
  tenant = await service.tenant('acc_workspaces-tenant');
  await service.services.stores.workspaces.seedInternal('http://localhost:8080');
});
afterAll(() => service?.close());

describe('making one', () => {
  // Guards: a workspace goes from its row to a runtime, and every field that a caller sees is right on the way.
  test('answers pending, and provisioning makes it ready', async () => {
    const { status, body } = await make({ plan: 'pro_hosted' });
    expect(status).toBe(201);
    expect(body).toEqual({
      identity_workspace_id: id,
      customer_id: id.slice(4),
      plan: 'pro_hosted',
      status: 'pending',
      runtime_base_url: null,
      error_code: null,
      error_message: null,
      created_at: expect.any(String),
      ready_at: null,
      archived_at: null,
    });
    expect(await reaching('ready')).toMatchObject({
      runtime_base_url: expect.stringMatching(/^http/),
      ready_at: expect.any(String),
      error_code: null,
    });
    // The operator is none of its members.
    expect((await operators('GET', `/${id}/members`)).body).toEqual({ data: [], meta: { total: 0 } });
    const { provisioned, customerId } = await rowOf();
    expect(provisioned).toEqual({
      storage: { key: `workspaces/${customerId}/storage.json` },
      settings: { key: `workspaces/${customerId}/settings.json` },
    });
    const settings = await service.services.files.get(`workspaces/${customerId}/settings.json`);
    expect(JSON.parse(settings.toString())).toMatchObject({ workspace_id: id, plan: 'pro_hosted' });
  });

  // Guards: every refusal has its status and words, and they are checked in the documented order.
  test.each([
    ['no body', undefined, 422, expect.any(Array)],
    ['no id', { plan: 'free' }, 422, expect.any(Array)],
    ['an id without its prefix', { identity_workspace_id: 'acme', plan: 'free' }, 422, expect.any(Array)],
    ['an id that gives no slug', { identity_workspace_id: 'acc_--', plan: 'free' }, 422, expect.any(Array)],
    ['a NUL character', { identity_workspace_id: 'acc_a\u0000', plan: 'free' }, 422, expect.any(Array)],
    ['an unknown plan', { identity_workspace_id: 'acc_x', plan: 'gold' }, 422, expect.any(Array)],
    ['a config that is none', { identity_workspace_id: 'acc_x', plan: 'free', config: [] }, 422, expect.any(Array)],
    [
      'the internal plan, before a managed vendor key',
      { identity_workspace_id: 'acc_x', plan: 'internal', manage_model_vendor: true },
      ...([400, 'invalid_plan'] as const),
    ],
    [
      'a managed vendor key, before whose workspace it is',
      { identity_workspace_id: 'acc_x', plan: 'free', manage_model_vendor: true },
      ...([400, 'managed_model_vendor_not_offered'] as const),
    ],
    [
      "another one's id, before whether it is taken",
      { identity_workspace_id: INTERNAL_WORKSPACE, plan: 'free' },
      ...([403, expect.stringContaining('not_your_workspace')] as const),
    ],
    [
      'its own id, which it has',
      { identity_workspace_id: 'acc_workspaces-tenant', plan: 'free' },
      ...([409, 'already_exists'] as const),
    ],
  ])('refuses %s', async (_, body, status, detail) => {
    expect(await as(tenant.caller)('POST', '', body)).toMatchObject({ status, body: { detail } });
  });

  // Guards: only owners and admins of the operator's workspace make workspaces for others; everybody makes their own.
  test('is for the tenant itself, and for the operator', async () => {
    const body = { identity_workspace_id: id, plan: 'free' };
    expect(await as(INTERNAL, 'member')('POST', '', body)).toMatchObject({ status: 403 });
    expect(await as(strangerOf(id), 'member')('POST', '', body)).toMatchObject({ status: 201 });
    await reaching('ready');
  });

  // Guards: an id has one row, however many ask at once; two ids with one slug have one too.
  test('is done once', async () => {
    const asked = { identity_workspace_id: id, plan: 'free' };
    const answers = await Promise.all(Array.from({ length: 8 }, () => operators('POST', '', asked)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 7 }, () => 409)]);
    expect(present(answers.find(({ status }) => status === 409)).body).toEqual({ detail: 'already_exists' });
    await reaching('ready');
    const other = { identity_workspace_id: `acc_${id.slice(4).toUpperCase()}`, plan: 'free' };
    expect(await operators('POST', '', other)).toMatchObject({ status: 409, body: { detail: 'already_exists' } });
  });

  // Guards: names that billing writes cannot be written by a caller.
  test('leaves out what only billing writes', async () => {
    await make({ config: { billing_customer_id: 'cus_stolen', region: 'eu' } });
    expect((await reaching('ready')).config).toEqual({ region: 'eu' });
  });
});

// Guards: no credential in a config is returned, at any depth and under any name for one.
test('masks credentials in the config, in the detail alone', async () => {
  const canary = 'canary-credential';
  await make({
    config: {
      api_key: canary,
      apiKey: canary,
      note: 'kept',
      n: 1,
      nothing: null,
      nested: { list: [{ accessToken: canary, region: 'eu' }], DB_PASSWORD: { user: canary } },
      ['__proto__x']: { client_secret: [canary] },
    },
  });
  const detail = await reaching('ready');
  expect(JSON.stringify(detail)).not.toContain(canary);
  expect(detail.config).toEqual({
    api_key: '***',
    apiKey: '***',
    note: 'kept',
    n: 1,
    nothing: null,
    nested: { list: [{ accessToken: '***', region: 'eu' }], DB_PASSWORD: '***' },
    ['__proto__x']: { client_secret: '***' },
  });
  const listed = await operators('GET', '');
  expect(listed.body.data.every((row: object) => !('config' in row))).toBe(true);
  expect((await rowOf()).config).toMatchObject({ api_key: canary });
});

// Guards: everybody may read the list and the detail, as the specification says.
test('shows every workspace to everybody', async () => {
  await make();
  const { body } = await tenant.cp('GET', '/v1/workspaces');
  const ids = body.data.map((row: { identity_workspace_id: string }) => row.identity_workspace_id);
  expect(ids).toEqual(expect.arrayContaining([id, 'acc_workspaces-tenant', INTERNAL_WORKSPACE]));
  expect(body.meta.total).toBe(ids.length);
  expect(await tenant.cp('GET', `/v1/workspaces/${id}`)).toMatchObject({ status: 200 });
  expect(await tenant.cp('GET', '/v1/workspaces/acc_nobody')).toMatchObject({
    status: 404,
    body: { detail: 'not_found' },
  });
  await reaching('ready');
});

describe('workspaces.retry', () => {
  // Guards: a failed workspace can be tried again as a new generation, and goes over pending to ready; nothing else
  // can.
  test('takes a failed one from pending to ready', async () => {
    await make();
    const { customer_id: customerId } = await reaching('ready');
    await force('failed', sql`, error_code = 'x', error_message = 'y'`);
    const before = await rowOf();
    const owner = as(strangerOf(id));
    expect(await as(tenant.caller)('POST', `/${id}/retry`)).toMatchObject({ status: 404 });
    const answers = await Promise.all([owner('POST', `/${id}/retry`), owner('POST', `/${id}/retry`)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(present(answers.find(({ status }) => status === 200)).body).toMatchObject({
      customer_id: customerId,
      status: 'pending',
      error_code: null,
      error_message: null,
    });
    await reaching('ready');
    expect((await rowOf()).generation).toBe(before.generation + 1);
    expect(await owner('POST', `/${id}/retry`)).toMatchObject({
      status: 409,
      body: { detail: 'the workspace is ready' },
    });
    expect(await operators('POST', '/acc_nobody/retry')).toMatchObject({ status: 404 });
  });
});

describe('the operator', () => {
  // Guards: the checks have an order: token, then row, then body.
  test('is refused in this order', async () => {
    expect(await setState('acc_nobody', {}, '')).toMatchObject({
      status: 401,
      body: { detail: 'invalid_operator_token' },
    });
    expect(await setState('acc_nobody', {}, 'wrong')).toMatchObject({ status: 401 });
    expect(await setState('acc_nobody', {})).toMatchObject({ status: 404, body: { detail: 'not_found' } });
    await make();
    await reaching('ready');
    for (const body of [
      undefined,
      {},
      [],
      { status: 'pending' },
      { status: 'archived' },
      { status: 'ready', runtime_base_url: 'ftp://x' },
    ]) {
      const { status, body: said } = await setState(id, body);
      expect({ status, at: said.detail[0].loc[0] }).toEqual({ status: 422, at: 'body' });
    }
  });

  // Guards: the operator can set each allowed state with its side effects, and that state is not overwritten.
  test('says what a workspace is', async () => {
    await make();
    await reaching('ready');
    const failed = await setState(id, { status: 'failed', error_code: 'disk', error_message: 'The disk is full' });
    expect(failed).toMatchObject({
      status: 200,
      body: { status: 'failed', error_code: 'disk', error_message: 'The disk is full' },
    });
    const provisioning = await setState(id, { status: 'provisioning' });
    expect(provisioning.body).toMatchObject({ status: 'provisioning', error_code: null });
    await lookAfter(service);
    expect(await rowOf()).toMatchObject({ status: 'provisioning' });
    const ready = await setState(id, { status: 'ready', runtime_base_url: 'https://runtime.example' });
    expect(ready.body).toMatchObject({
      status: 'ready',
      runtime_base_url: 'https://runtime.example',
      ready_at: expect.any(String),
    });
    expect(await operators('DELETE', `/${id}`)).toMatchObject({ status: 200, body: { status: 'archived' } });
    expect(await setState(id, { status: 'ready' })).toMatchObject({ status: 409 });
  });
});

describe('housekeeping', () => {
  // Guards: a workspace that was answered 201 is provisioned, although its start was lost.
  test('starts what was accepted', async () => {
    const { stores } = service.services;
    await stores.workspaces.create({ workspaceId: id, plan: 'free', config: null });
    await lookAfter(service);
    await reaching('ready');
  });

  // Guards: a workspace whose provisioning was terminated does not stay pending for ever.
  test('settles what lost its workflow', async () => {
    const { stores } = service.services;
    await make();
    const { customerId, generation } = await reaching('ready').then(() => rowOf());
    await force('provisioning');
    // Its workflow closes a moment after the row is ready.
    await eventually(async () => {
      await lookAfter(service);
      expect(await rowOf()).toMatchObject({ status: 'failed', errorCode: 'provisioning_lost', generation });
    });
    // Late words of that generation, or of an earlier one.
    await stores.workspaces.recordReady({ customerId, generation }, 'http://late.example');
    expect(await rowOf()).toMatchObject({ status: 'failed' });
  });
});
