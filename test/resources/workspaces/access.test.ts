/** Workspaces under other settings: scoped, with access tokens, without an operator, in live billing, without Temporal. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { INTERNAL_WORKSPACE } from '../../../src/platform/core/ids.ts';
import { present } from '../../../src/platform/core/present.ts';
import { claimsFor, startIdentityProvider, type IdentityProvider } from '../../support/fakes/identity-provider.ts';
import { call, eventually, startTestService, type Tenant, type TestService } from '../../support/service/service.ts';
import { startTcpProxy, type TcpProxy } from '../../support/faults/tcp-proxy.ts';
import { askAs, INTERNAL } from './asking.ts';
import { lookAfterWorkspaces as lookAfter } from '../../support/service/housekeeping.ts';

const operator = (service: TestService, ...request: Parameters<ReturnType<typeof askAs>>) =>
  askAs(service, INTERNAL)(...request);
const seeded = async (env: Record<string, string>, worker = true) => {
  const service = await startTestService({ env: { HOUSEKEEPING_INTERVAL: '1h', ...env }, worker });
  await service.services.stores.workspaces.seedInternal('http://localhost:8080');
  return service;
};

describe('scoped, with access tokens and no operator', () => {
  let provider: IdentityProvider;
  let service: TestService;
  let tenant: Tenant;
  beforeAll(async () => {
    provider = await startIdentityProvider();
    service = await seeded({ ...provider.settings, WORKSPACES_SCOPED: 'true', OPERATOR_TOKEN: '' });
    tenant = await service.tenant('acc_scoped');
    await service.tenant('acc_other');
  });
  afterAll(async () => {
    await service?.close();
    await provider?.close();
  });
  const idsIn = ({ data }: { data: { identity_workspace_id: string }[] }) =>
    data.map(({ identity_workspace_id }) => identity_workspace_id).sort();

  // Guards: with WORKSPACES_SCOPED a tenant sees its own workspaces and the operator all; another's is unknown.
  test('a tenant sees its own workspace only', async () => {
    const own = await tenant.cp('GET', '/v1/workspaces');
    expect(own.body).toMatchObject({ data: [{ identity_workspace_id: 'acc_scoped' }], meta: { total: 1 } });
    expect(await tenant.cp('GET', '/v1/workspaces/acc_scoped')).toMatchObject({ status: 200 });
    const foreign = await tenant.cp('GET', '/v1/workspaces/acc_other');
    const unknown = await tenant.cp('GET', '/v1/workspaces/acc_nobody');
    expect([foreign.status, foreign.body]).toEqual([unknown.status, unknown.body]);
    expect(unknown).toMatchObject({ status: 404, body: { detail: 'not_found' } });
    const all = await operator(service, 'GET', '');
    expect(idsIn(all.body)).toEqual(['acc_internal', 'acc_other', 'acc_scoped']);
    expect(await operator(service, 'GET', '/acc_other')).toMatchObject({ status: 200 });
  });

  // Guards: an access token of the identity provider makes, reads and destroys its own workspace, and nothing else.
  test('an access token is for its own workspace', async () => {
    const claims = { ...claimsFor(tenant), workspace_id: 'acc_by-token' };
    const token = await provider.token(claims);
    const ask = (method: string, path: string, body?: unknown) =>
      call(`${service.controlPlaneUrl}/v1/workspaces${path}`, method, { authorization: `Bearer ${token}` }, body);
    expect(await ask('POST', '', { identity_workspace_id: 'acc_another', plan: 'free' })).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('not_your_workspace') },
    });
    const made = await ask('POST', '', { identity_workspace_id: 'acc_by-token', plan: 'free' });
    expect(made).toMatchObject({ status: 201, body: { customer_id: 'by-token', status: 'pending' } });
    await eventually(async () =>
      expect(await ask('GET', '/acc_by-token')).toMatchObject({ body: { status: 'ready' } }),
    );
    const members = await service.services.members.list(
      { ...tenant.caller, workspaceId: 'acc_by-token' },
      'acc_by-token',
    );
    expect(members.data).toMatchObject([{ email: tenant.caller.actor, role: 'owner' }]);
    expect(idsIn((await ask('GET', '')).body)).toEqual(['acc_by-token']);
    expect(await ask('DELETE', '/acc_scoped')).toMatchObject({ status: 404 });
    expect(await ask('POST', '/acc_by-token/retry')).toMatchObject({ status: 401 });
    expect(await ask('DELETE', '/acc_by-token')).toMatchObject({ status: 200, body: { status: 'archived' } });
  });

  // Guards: without an operator's token the operator's endpoint does not exist, whatever is sent.
  test('the operator route is disabled', async () => {
    const shown: Record<string, string>[] = [{}, { 'x-operator-token': '' }, { 'x-operator-token': 'guess' }];
    for (const headers of shown) {
      const answer = await call(`${service.controlPlaneUrl}/v1/workspaces/acc_scoped/state`, 'PATCH', headers, {});
      expect(answer).toMatchObject({ status: 404, body: { detail: 'operator_disabled' } });
    }
  });
});

describe('in live billing', () => {
  let service: TestService | undefined;
  afterEach(() => service?.close());
  const live = (strict: boolean) =>
    seeded(
      {
        BILLING_MODE: 'live',
        STRIPE_SECRET_KEY: 'sk_test_of_the_tests',
        STRIPE_WEBHOOK_SECRET: 'whsec_of_the_tests',
        // Nobody is there.
        STRIPE_API_BASE: 'http://127.0.0.1:9',
        STRIPE_TIMEOUT: '1s',
        BILLING_STRICT: String(strict),
      },
      false,
    );
  const asked = { identity_workspace_id: 'acc_paying', plan: 'free' };

  // Guards: an absent billing provider keeps nobody from a workspace, and the row records its absence.
  test('a workspace is made without a customer', async () => {
    service = await live(false);
    expect(await operator(service, 'POST', '', asked)).toMatchObject({ status: 201, body: { status: 'pending' } });
    const { body } = await operator(service, 'GET', '/acc_paying');
    expect(body.config).toEqual({ billing_customer_error: expect.any(String) });
  });

  // Guards: in strict mode there is no workspace without a customer: the answer is a 502, and there is no row.
  test('none is made in strict mode', async () => {
    service = await live(true);
    expect((await operator(service, 'POST', '', asked)).status).toBe(502);
    expect(await operator(service, 'GET', '/acc_paying')).toMatchObject({ status: 404 });
  });

  // Guards: managed infrastructure is not made on credit; the caller's right is checked before the plan.
  test('a hosted plan asks for a top-up first', async () => {
    service = await live(false);
    for (const id of ['acc_paying', INTERNAL_WORKSPACE]) {
      const hosted = { identity_workspace_id: id, plan: 'starter_hosted' };
      expect(await operator(service, 'POST', '', hosted)).toMatchObject({
        status: 402,
        body: { detail: 'insufficient_credit' },
      });
    }
  });
});

describe.each(['refuse', 'hang'] as const)('when Temporal is away (connections %s)', (how) => {
  let wire: TcpProxy;
  let service: TestService;
  let tenant: Tenant;
  const address = present(process.env.TEST_TEMPORAL_ADDRESS);
  beforeAll(async () => {
    wire = await startTcpProxy(address);
    process.env.TEST_TEMPORAL_ADDRESS = wire.address;
    service = await seeded({});
    tenant = await service.tenant(`acc_cut-off-${how}`);
  });
  afterAll(async () => {
    process.env.TEST_TEMPORAL_ADDRESS = address;
    await wire?.restore();
    await service?.close();
    await wire?.close();
  });

  // Guards: a destruction that cannot begin changes nothing; a new workspace that cannot start waits for housekeeping.
  test('nothing is destroyed, and what is accepted is kept', async () => {
    const { workspaces } = service.services.stores;
    const before = present(await workspaces.find(tenant.caller.workspaceId));
    await wire.cut(how);
    const startedAt = performance.now();
    const [destroyed, made] = await Promise.all([
      tenant.cp('DELETE', `/v1/workspaces/${tenant.caller.workspaceId}`),
      operator(service, 'POST', '', { identity_workspace_id: `acc_later-${how}`, plan: 'free' }),
    ]);
    expect(performance.now() - startedAt).toBeLessThan(9_000);
    expect(destroyed).toMatchObject({ status: 502, body: { detail: 'runtime_unreachable' } });
    expect(made).toMatchObject({ status: 201, body: { status: 'pending' } });
    // Its start may have been sent, and arrive when the wire is whole: by then it has come too late.
    const { customerId, generation } = before;
    expect(await workspaces.beginDestroying({ customerId, generation: generation + 1 })).toBe(false);
    expect(await workspaces.find(tenant.caller.workspaceId)).toEqual({ ...before, generation: generation + 1 });

    await wire.restore();
    await eventually(async () => {
      await lookAfter(service);
      expect(await workspaces.find(`acc_later-${how}`)).toMatchObject({ status: 'ready' });
    });
    expect(await tenant.cp('DELETE', `/v1/workspaces/${tenant.caller.workspaceId}`)).toMatchObject({ status: 200 });
  });
});
