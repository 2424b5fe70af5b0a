/** What the operator's people do to a workspace is in its own audit log too: generated from the declared endpoints. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import type { z } from 'zod';
import { present } from '../../../src/platform/core/present.ts';
import { isAudited } from '../../../src/platform/http/audit.ts';
import type { Endpoint, Route } from '../../../src/platform/http/endpoint.ts';
import { allRoutes } from '../../../src/resources/index.ts';
import type { Services } from '../../../src/compose/services.ts';
import { NOBODYS } from '../../support/fixtures/belongings.ts';
import { EXAMPLES } from '../../support/http/examples.ts';
import { INTERNAL_CALLER, sendConfirmed, type RequestParts } from '../../support/http/send.ts';
import { sessionFor, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

/** Fields and parameters that name a workspace. */
const NAMES = ['identity_workspace_id', 'workspace_id', 'customer_id', 'workspaces'];
/** About the deployment as a whole. */
const NOBODYS_IN_PARTICULAR = ['system.reload'];

const keysOf = (schema: z.ZodType | undefined): string[] =>
  Object.keys((schema as z.ZodObject | undefined)?.shape ?? {});
const namesWorkspace = ({ path, credential, params, query, body }: Endpoint): boolean =>
  ['internal', 'operator'].includes(credential) ||
  path.startsWith('/v1/workspaces/{') ||
  [params, query, body].flatMap(keysOf).some((name) => NAMES.includes(name));

const audited = allRoutes({} as Services).filter(({ endpoint }) => isAudited(endpoint));
const about = audited
  .filter(({ endpoint: { id } }) => !NOBODYS_IN_PARTICULAR.includes(id))
  .filter((route) => namesWorkspace(route.endpoint));

let service: TestService;
let operator: Pick<Tenant, 'apiKey' | 'session'>;
let bystander: Tenant;
let nth = 0;
beforeAll(async () => {
  service = await startTestService({ worker: false });
  await service.services.stores.workspaces.seedInternal('http://localhost:8080');
  operator = { apiKey: '', session: sessionFor(INTERNAL_CALLER) };
  bystander = await service.tenant('acc_bystander');
});
afterAll(() => service?.close());

interface Entry {
  actor: string;
  status: number;
}
const logOf = (customerId: string, { id }: Endpoint) =>
  service.runtime.db.rows<Entry & Record<string, unknown>>(
    sql`select actor, status, target, change from audit_log where customer_id = ${customerId} and action = ${id} order by id desc`,
  );

/** A request about this workspace, with whatever else it needs from the examples. */
async function requestAbout({ endpoint }: Route, { caller }: Tenant): Promise<RequestParts> {
  const { workspaceId, customerId } = caller;
  const example = (await EXAMPLES[endpoint.id]?.(NOBODYS)) ?? {};
  const of: Record<string, unknown> = {
    identity_workspace_id: workspaceId,
    workspace_id: workspaceId,
    customer_id: customerId,
    workspaces: { [customerId]: true },
  };
  const named = (schema: z.ZodType | undefined) =>
    Object.fromEntries(keysOf(schema).flatMap((name) => (name in of ? [[name, of[name]]] : [])));
  const isOfWorkspace = endpoint.path.startsWith('/v1/workspaces/{id}');
  return {
    params: { ...example.params, ...named(endpoint.params), ...(isOfWorkspace && { id: workspaceId }) } as never,
    query: { ...example.query, ...named(endpoint.query) } as never,
    ...(endpoint.body && { body: { ...(example.body as object), ...named(endpoint.body) } }),
  };
}

/** Not ready, so that none is taken down here, which would take its time. */
async function newTenant(): Promise<Tenant> {
  const tenant = await service.tenant(`acc_told-${(nth += 1)}`);
  const { customerId } = tenant.caller;
  await service.runtime.db.rows(sql`update workspaces set status = 'provisioning' where customer_id = ${customerId}`);
  return tenant;
}

// Guards: every act of the operator on a workspace is recorded in that workspace's log. An endpoint that can name a
// workspace says which one, or that it names none.
test('every endpoint that names a workspace says which it concerns', () => {
  const silent = audited.filter(({ endpoint, concerned }) => namesWorkspace(endpoint) && !concerned);
  expect(silent.map(({ endpoint }) => endpoint.id)).toEqual(NOBODYS_IN_PARTICULAR);
  expect(about.length).toBeGreaterThan(10);
});

describe.each(about.map((route) => [route.endpoint.id, route] as const))('%s', (_id, route) => {
  const { endpoint } = route;

  // Guards: the tenant and the operator read what was done to the workspace and how it ended, and nobody else does.
  test('by the operator is told to the tenant', async () => {
    const tenant = await newTenant();
    const before = (await logOf('internal', endpoint)).length;
    const parts = await requestAbout(route, tenant);
    if (endpoint.id === 'feature-flags.delete') {
      const workspaces = { [tenant.caller.customerId]: true };
      await service.services.flags.put(INTERNAL_CALLER, 'another', { enabled: false, workspaces });
    }
    const { status } = await sendConfirmed(service, operator, endpoint, parts);
    expect(status).not.toBe(422);
    const told = await logOf(tenant.caller.customerId, endpoint);
    const actor = endpoint.credential === 'operator' ? 'operator' : `operator:${INTERNAL_CALLER.actor}`;
    expect(told).toEqual([expect.objectContaining({ actor, status })]);
    const own = await logOf('internal', endpoint);
    expect(own.length).toBe(before + 1);
    expect(own[0]).toMatchObject({ actor: actor.replace('operator:', ''), status });
    expect(await logOf('bystander', endpoint)).toEqual([]);
    if (endpoint.credential === 'operator') return;
    const { body } = await tenant.cp('GET', `/v1/audit-log?action=${endpoint.id}`);
    expect(body).toMatchObject({ data: [{ actor, status, action: endpoint.id }], meta: { total: 1 } });
  });

  // Guards: a tenant cannot write entries into another workspace's log by naming that workspace.
  test('by another tenant is not', async () => {
    const tenant = await newTenant();
    // As itself, also where only the operator's session would come through.
    const credential = endpoint.credential === 'operator' ? 'operator' : 'session';
    const asked = { ...endpoint, credential, problems: [] } as Endpoint;
    await sendConfirmed(service, bystander, asked, await requestAbout(route, tenant));
    const told = await logOf(tenant.caller.customerId, endpoint);
    expect(told).toEqual(endpoint.credential === 'operator' ? [expect.objectContaining({ actor: 'operator' })] : []);
    await service.runtime.db.rows(sql`delete from audit_log where customer_id = 'bystander'`);
  });
});

// Guards: an act on one's own workspace makes one entry, under one's own name.
test('the own workspace is told once', async () => {
  const tenant = await service.tenant('acc_own');
  const { actor } = tenant.caller;
  await tenant.cp('POST', '/v1/workspaces/acc_own/members', { email: 'new@own.example' });
  const { body } = await tenant.cp('GET', '/v1/audit-log?action=members.add');
  expect(body.data).toMatchObject([{ actor, status: 201, change: { email: 'new@own.example' } }]);
});

describe('what a tenant is told', () => {
  const told = async ({ cp }: Tenant, action: string) => (await cp('GET', `/v1/audit-log?action=${action}`)).body.data;
  // Guards: a tenant's log does not show the exceptions of a flag, which name other customers, nor the operator's
  // notes.
  test('is nothing of others and nothing of what is noted', async () => {
    const tenant = await newTenant();
    const { customerId } = tenant.caller;
    const flags = (workspaces: object) => ({ params: { name: 'shared' }, body: { enabled: true, workspaces } });
    const byId = (id: string) => present(audited.find(({ endpoint }) => endpoint.id === id)).endpoint;
    const send = (id: string, parts: RequestParts) => sendConfirmed(service, operator, byId(id), parts);
    await send('feature-flags.put', flags({ [customerId]: false, bystander: true }));
    await send('feature-flags.put', flags({ bystander: true }));
    await send('crm-admin.createNote', { params: { customer_id: customerId }, body: { text: 'CANARY' } });
    await send('crm-admin.update', { params: { customer_id: customerId }, body: { status: 'lead' } });
    expect(await told(tenant, 'feature-flags.put')).toMatchObject([
      { target: { name: 'shared' }, change: { exception: null } },
      { target: { name: 'shared' }, change: { exception: false } },
    ]);
    expect(await told(tenant, 'crm-admin.update')).toMatchObject([{ change: {} }]);
    const all = JSON.stringify((await tenant.cp('GET', '/v1/audit-log')).body);
    expect(all).not.toMatch(/bystander|CANARY|lead/);
  });
});
