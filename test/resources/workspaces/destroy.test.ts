/** Taking a workspace down: nothing of it goes on, nothing that was made for it stays, and its past can be read. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { INTERNAL_WORKSPACE } from '../../../src/platform/core/ids.ts';
import { present } from '../../../src/platform/core/present.ts';
import type { Caller } from '../../../src/platform/http/endpoint.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { createWorkspaceService } from '../../../src/resources/workspaces/service.ts';
import { attachmentForm, picture, workflowOf } from '../../support/fixtures/belongings.ts';
import { startExternalProvisioner, type ExternalProvisioner } from './provisioner.ts';
import { askAs, INTERNAL } from './asking.ts';

let service: TestService;
let external: ExternalProvisioner;
let tenant: Tenant;
let id = '';
let nth = 0;

const as = (caller: Caller, role?: 'owner' | 'admin' | 'member') => askAs(service, caller, role);
const destroy = (workspaceId = id) => as(INTERNAL)('DELETE', `/${workspaceId}`);
const rowOf = async (workspaceId = id) => present(await service.services.stores.workspaces.find(workspaceId));

beforeAll(async () => {
  external = await startExternalProvisioner();
  service = await startTestService({
    env: {
      PROVISIONER_URL: external.url,
      PROVISIONER_POLL: '5ms',
      PROVISIONER_TOKEN: 'token-of-the-provisioner',
      PROVISIONER_RETRY_INITIAL: '10ms',
      PROVISIONER_ATTEMPTS: '3',
      HOUSEKEEPING_INTERVAL: '1h',
    },
  });
  await service.services.stores.workspaces.seedInternal('http://localhost:8080');
});
afterAll(async () => {
  await service?.close();
  await external?.close();
});
beforeEach(async () => {
  external.interfere(() => undefined);
  id = `acc_down-${++nth}`;
  tenant = await service.tenant(id);
});

describe('who may', () => {
  // Guards: a stranger learns nothing, a member may not destroy, and the operator's workspace cannot be destroyed.
  test('is decided before anything is done', async () => {
    const stranger = (await service.tenant(`acc_stranger-${nth}`)).caller;
    const refusals: [Caller, 'owner' | 'member', string, number, string][] = [
      [stranger, 'owner', id, 404, 'not_found'],
      [stranger, 'owner', 'acc_nobody', 404, 'not_found'],
      [stranger, 'owner', INTERNAL_WORKSPACE, 404, 'not_found'],
      [tenant.caller, 'member', id, 403, 'admin_required'],
      [INTERNAL, 'member', id, 403, 'admin_required'],
      [INTERNAL, 'owner', INTERNAL_WORKSPACE, 400, 'cannot_destroy_internal'],
      [INTERNAL, 'owner', 'acc_nobody', 404, 'not_found'],
    ];
    for (const [caller, role, workspaceId, status, detail] of refusals) {
      expect(await as(caller, role)('DELETE', `/${workspaceId}`)).toMatchObject({ status, body: { detail } });
    }
    expect(await rowOf()).toMatchObject({ status: 'ready', destroyingSince: null });
  });

  // Guards: a workspace cannot be destroyed while it is being provisioned.
  test.each(['pending', 'provisioning'])('not while it is %s', async (status) => {
    await service.runtime.db.rows(
      sql`update workspaces set status = ${status}::workspace_status where identity_workspace_id = ${id}`,
    );
    expect(await destroy()).toMatchObject({ status: 409, body: { detail: `the workspace is ${status}` } });
  });
});

// Guards: a destruction is complete. Runs, projects, schedules, keys, files and infrastructure end; rows stay.
test('ends all that the tenant has under way', async () => {
  const { workspaceId, customerId } = tenant.caller;
  const made = async (answer: ReturnType<Tenant['cp']>) => {
    const { status, body } = await answer;
    expect(status).toBeLessThan(300);
    return body;
  };
  const long = (await made(tenant.api('POST', '/v1/runs', { agent: 'assistant', prompt: '[[sleep:60000]]' }))).run_id;
  await made(tenant.cp('POST', '/v1/workflows', { spec: workflowOf('writer', 'slow', 'slow') }));
  const { id: projectId } = await made(
    tenant.cp('POST', '/v1/projects', { workflow_slug: 'slow', title: 'Slow', brief: '[[sleep:60000]]' }),
  );
  const job = { name: 'job', cron: '* * * * *', agent_slug: 'assistant', brief: 'Hello' };
  await made(tenant.cp('POST', '/v1/scheduled-jobs', job));
  const beat = { name: 'beat', agent_slug: 'assistant', prompt: 'Hello', interval_s: 10 };
  await made(tenant.cp('POST', '/v1/heartbeats', beat));
  await made(tenant.cp('POST', `/v1/projects/${projectId}/attachments`, attachmentForm('mark')));
  await service.services.files.put(`runs/${customerId}/r/c`, Buffer.from('artifact'), 'text/plain');
  await service.services.files.put(`runs/${customerId}-2/r/c`, Buffer.from('of another'), 'text/plain');
  const avatar = new FormData();
  avatar.set('file', new Blob([await picture()]), 'file');
  await made(tenant.cp('POST', '/v1/agents', { slug: 'own', model: 'offline', prompt: 'You help.' }));
  await made(tenant.cp('PUT', '/v1/agents/own/avatar', avatar));
  const { client } = service.runtime.temporal;
  const schedules = async () => {
    const ids: string[] = [];
    for await (const { scheduleId } of client.schedule.list()) ids.push(scheduleId);
    const { TASK_QUEUE_PREFIX: prefix } = service.runtime.config;
    return ids.filter((each) => each.startsWith(`${prefix}job/`) || each.startsWith(`${prefix}heartbeat/`));
  };
  await eventually(async () => expect(await schedules()).toHaveLength(2));

  const { status, body } = await as(tenant.caller)('DELETE', `/${workspaceId}`);
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { identity_workspace_id: workspaceId, status: 'archived', archived_at: expect.any(String) },
  });
  expect(await rowOf()).toMatchObject({ provisioned: {}, destroyingSince: null });
  expect((await tenant.cp('GET', `/v1/runs/${long}/detail`)).body.status).toBe('cancelled');
  expect((await tenant.cp('GET', `/v1/projects/${projectId}`)).body.status).toBe('abandoned');
  expect((await tenant.cp('GET', '/v1/runs')).body.data.length).toBeGreaterThan(1);
  await eventually(async () => expect(await schedules()).toEqual([]));
  expect(await tenant.api('GET', '/v1/agents')).toMatchObject({ status: 401, body: 'api key revoked' });
  expect((await tenant.cp('GET', `/v1/projects/${projectId}/attachments`)).body.data).toEqual([]);
  expect((await tenant.cp('GET', '/v1/agents/own/avatar')).status).toBe(404);
  await expect(service.services.files.get(`runs/${customerId}/r/c`)).rejects.toThrow('no file');
  expect((await service.services.files.get(`runs/${customerId}-2/r/c`)).toString()).toBe('of another');

  const refused = { status: 403, body: { detail: 'workspace_archived' } };
  expect(await tenant.cp('POST', '/v1/runs', { agent: 'assistant', prompt: 'Hello' })).toMatchObject(refused);
  expect(await tenant.cp('POST', '/v1/api-keys', { name: 'another' })).toMatchObject(refused);
  // Once more: it is archived already.
  expect(await destroy()).toMatchObject({ status: 200, body: { status: 'archived', archived_at: body.archived_at } });
});

// Guards: a workspace that is made again finds nothing of its past. It keeps its customer at the billing provider, so
// that its next subscription is not a second one.
test('can be made again', async () => {
  const { workspaceId } = tenant.caller;
  await tenant.cp('POST', '/v1/heartbeats', {
    name: 'beat',
    agent_slug: 'assistant',
    prompt: 'Hello',
    interval_s: 1_000_000,
  });
  await service.runtime.db.rows(
    sql`update workspaces set config = '{"old": true, "billing_customer_id": "cus_1", "billing_subscription_id": "sub_1"}'
      where identity_workspace_id = ${workspaceId}`,
  );
  expect((await destroy()).status).toBe(200);
  const again = await as(tenant.caller)('POST', '', { identity_workspace_id: workspaceId, plan: 'free' });
  expect(again).toMatchObject({ status: 201, body: { status: 'pending', plan: 'free', archived_at: null } });
  await eventually(async () => expect((await rowOf())?.status).toBe('ready'));
  expect((await rowOf())?.config).toEqual({ billing_customer_id: 'cus_1', billing_subscription_id: 'sub_1' });
  expect(await tenant.api('GET', '/v1/agents')).toMatchObject({ status: 401, body: 'invalid api key' });
  expect((await tenant.cp('GET', '/v1/heartbeats')).body.data).toEqual([]);
  expect(external.resources.has(`/v1/workspaces/${tenant.caller.customerId}/server`)).toBe(true);
  expect((await destroy()).status).toBe(200);
  expect([...external.resources.keys()].filter((path) => path.includes(tenant.caller.customerId))).toEqual([]);
});

// Guards: simultaneous requests make one destruction, and each is told its end.
test('is done once, however many ask', async () => {
  const answers = await Promise.all(Array.from({ length: 5 }, () => destroy()));
  expect(answers.map(({ status, body }) => [status, body.status])).toEqual(
    Array.from({ length: 5 }, () => [200, 'archived']),
  );
  const removals = external.asked.filter(
    ({ method, path }) => method === 'DELETE' && path.includes(`/${tenant.caller.customerId}/server`),
  );
  expect(removals).toHaveLength(1);
});

// Guards: simultaneous creates, destructions and retries end in a valid state with nothing half done.
test('races with making and retrying', async () => {
  const { workspaceId, customerId } = tenant.caller;
  const create = () => as(tenant.caller)('POST', '', { identity_workspace_id: workspaceId, plan: 'free' });
  const retry = () => as(tenant.caller)('POST', `/${workspaceId}/retry`);
  for (let round = 0; round < 3; round++) {
    const answers = await Promise.all([destroy(), create(), retry(), destroy(), create()]);
    expect(answers.map(({ status }) => status).filter((status) => ![200, 201, 409].includes(status))).toEqual([]);
    await eventually(async () => expect(['ready', 'archived']).toContain((await rowOf()).status));
    const { status } = await rowOf();
    const there = [...external.resources.keys()].filter((path) => path.includes(`/${customerId}/`));
    if (status === 'archived') expect(there).toEqual([]);
    else expect((await rowOf()).destroyingSince).toBeNull();
  }
  await eventually(async () => expect(await destroy()).toMatchObject({ status: 200 }));
});

// Guards: a step that fails for good is reported, the rest stays on record, nothing new is accepted meanwhile, and
// another request continues there.
test('keeps what is left when a step fails', async () => {
  const { customerId } = tenant.caller;
  const path = (resource: string) => `/v1/workspaces/${customerId}/${resource}`;
  for (const resource of ['storage', 'database', 'cache', 'server']) {
    external.resources.set(path(resource), { looksLeft: 0, id: resource });
    await service.services.stores.workspaces.recordResource({ customerId }, resource, { id: resource });
  }
  let refusals = 0;
  external.interfere(({ method, path: asked }) => {
    if (method !== 'DELETE' || asked !== path('database')) return undefined;
    refusals += 1;
    return { status: 500, body: { code: 'disk_stuck', message: 'the disk does not let go' } };
  });
  const failed = await destroy();
  expect(failed).toMatchObject({
    status: 502,
    body: { detail: { code: 'disk_stuck', message: 'database: the disk does not let go' } },
  });
  expect(refusals).toBe(3);
  const row = await rowOf();
  expect(row).toMatchObject({ status: 'failed', errorCode: 'disk_stuck', archivedAt: null });
  expect(Object.keys(row.provisioned).sort()).toEqual(['database', 'storage']);
  expect(await tenant.cp('POST', '/v1/runs', { agent: 'assistant', prompt: 'Hello' })).toMatchObject({
    status: 403,
    body: { detail: 'workspace_archived' },
  });
  expect(await as(tenant.caller)('POST', `/${id}/retry`)).toMatchObject({ status: 409 });

  external.interfere(() => undefined);
  expect(await destroy()).toMatchObject({ status: 200, body: { status: 'archived', error_code: null } });
  expect([...external.resources.keys()].filter((each) => each.includes(`/${customerId}/`))).toEqual([]);
});

// Guards: a failure that no repetition can mend is tried once.
test('a refusal is final', async () => {
  const asked = () =>
    external.asked.filter(({ method, path }) => method === 'DELETE' && path.includes(`/${tenant.caller.customerId}/`));
  external.interfere(({ method }) => (method === 'DELETE' ? { status: 403, body: 'no JSON object' } : undefined));
  expect(await destroy()).toMatchObject({
    status: 502,
    body: { detail: { code: 'provisioner_refused', message: 'server: the provisioner answered 403' } },
  });
  expect(asked()).toHaveLength(1);
});

const serviceWith = (instead: Partial<Parameters<typeof createWorkspaceService>[0]>) =>
  createWorkspaceService({
    temporal: service.runtime.temporal,
    settings: service.runtime.config,
    log: service.runtime.log,
    store: service.services.stores.workspaces,
    provisioner: service.services.teardown.provisioner,
    hasMinimumTopup: async () => true,
    mintBillingCustomer: async () => null,
    seedOwner: async () => {},
    endAccess: async () => {},
    ...instead,
  });

// Guards: who asks while another destruction ends is told that it has ended, and not that the workspace has moved on.
test('has ended by the time that it is begun again', async () => {
  const before = await rowOf();
  const store = service.services.stores.workspaces;
  const looks = [before];
  const late = serviceWith({ store: { ...store, find: async (name) => looks.pop() ?? store.find(name) } });
  expect((await destroy()).status).toBe(200);
  expect(await late.destroy(INTERNAL, id)).toMatchObject({ status: 'archived' });
  expect(await rowOf()).toMatchObject({ status: 'archived', generation: before.generation + 1 });
});

// Guards: a long destruction reports that it goes on, and another request waits for it instead of beginning a second.
test('goes on when nobody waits', async () => {
  const impatient = serviceWith({ patienceMs: 300 });
  const { generation } = await rowOf();
  external.interfere(({ path }) =>
    path.endsWith(`${id.slice(4)}/server`) ? { status: 200, body: { status: 'deleting' } } : undefined,
  );
  const detail = { code: 'still_running', message: expect.any(String) };
  await expect(impatient.destroy(INTERNAL, id)).rejects.toMatchObject({ code: 'destroy_failed', detail });
  await eventually(async () => expect((await rowOf()).destroyingSince).not.toBeNull());
  expect(await rowOf()).toMatchObject({ status: 'ready', errorCode: null });
  external.interfere(() => undefined);
  expect(await destroy()).toMatchObject({ status: 200, body: { status: 'archived' } });
  expect((await rowOf()).generation).toBe(generation + 1);
});

// Guards: an operation that began in one life of a workspace has no effect on another.
test('loses against an operator', async () => {
  const { stores } = service.services;
  const { customerId, generation } = await rowOf();
  await stores.workspaces.setState(id, { status: 'ready' });
  expect(await stores.workspaces.beginDestroying({ customerId, generation: generation + 1 })).toBe(false);
  expect(await rowOf()).toMatchObject({ status: 'ready', destroyingSince: null });
});
