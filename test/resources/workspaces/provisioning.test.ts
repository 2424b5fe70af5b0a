/** Provisioning by an external provisioner, over real HTTP: what it is asked, how it fails, and workers that die. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { present } from '../../../src/platform/core/present.ts';
import { standingIn } from '../../../src/platform/core/rights.ts';
import { destroyWorkflowId, provisionWorkflowId } from '../../../src/resources/workspaces/model.ts';
import { readHistories } from '../../support/temporal/histories.ts';
import { eventually, startTestService, type TestService } from '../../support/service/service.ts';
import { startExternalProvisioner, type ExternalProvisioner } from './provisioner.ts';
import { lookAfterWorkspaces as lookAfter } from '../../support/service/housekeeping.ts';

let service: TestService;
let external: ExternalProvisioner;
let id = '';
let nth = 0;

const SETTINGS = {
  PROVISIONER_TOKEN: 'token-of-the-provisioner',
  PROVISIONER_POLL: '5ms',
  PROVISIONER_TIMEOUT: '5s',
  PROVISIONER_RETRY_INITIAL: '10ms',
  PROVISIONER_ATTEMPTS: '3',
  HOUSEKEEPING_INTERVAL: '1h',
};
const store = () => service.services.stores.workspaces;
const rowOf = async () => present(await store().find(id));
const path = (resource: string) => `/v1/workspaces/${id.slice(4)}/${resource}`;
const asked = (method: string, resource: string) =>
  external.asked.filter((one) => one.method === method && one.path === path(resource));

/** Accepts one and has it provisioned, as a request does. */
async function make(): Promise<void> {
  await store().create({ workspaceId: id, plan: 'pro_hosted', config: null });
  await lookAfter(service);
}
const ended = () =>
  eventually(async () => {
    const row = await rowOf();
    if (row.status !== 'ready' && row.status !== 'failed') throw new Error(`${id} is ${row.status}`);
    return row;
  });
/** As the control plane has it. */
const destroy = () =>
  service.services.workspaces.destroy(
    {
      workspaceId: 'acc_internal',
      customerId: 'internal',
      actor: 'owner@internal.example',
      standing: standingIn('acc_internal', 'owner'),
    },
    id,
  );

beforeAll(async () => {
  external = await startExternalProvisioner();
  service = await startTestService({ env: { ...SETTINGS, PROVISIONER_URL: `${external.url}/` } });
});
afterAll(async () => {
  await service?.close();
  await external?.close();
});
beforeEach(() => {
  id = `acc_remote-${++nth}`;
});
afterEach(() => external.interfere(() => undefined));

// Guards: the protocol with the provisioner is kept exactly: what is sent, in which order, and what is stored of the
// answers.
test('asks for each resource in turn, and looks until it is there', async () => {
  await make();
  expect(await ended()).toMatchObject({ status: 'ready', runtimeBaseUrl: `${external.url}/runtime` });
  expect((await rowOf()).provisioned).toMatchObject({
    storage: { id: expect.stringMatching(/^r-/) },
    server: { runtime_base_url: `${external.url}/runtime` },
  });
  const mine = external.asked.filter((one) => one.path.startsWith(path('')));
  expect(mine.filter(({ method }) => method === 'PUT').map((one) => one.path)).toEqual(
    ['storage', 'database', 'cache', 'server'].map(path),
  );
  expect(mine[0]).toMatchObject({
    method: 'PUT',
    body: { workspace_id: id, plan: 'pro_hosted' },
    headers: {
      authorization: 'Bearer token-of-the-provisioner',
      'content-type': 'application/json',
      'idempotency-key': `${id.slice(4)}/storage`,
    },
  });
  expect(asked('GET', 'storage').length).toBeGreaterThan(0);
});

describe('failing', () => {
  // Guards: failures that may pass are retried up to the limit of the policy.
  test.each([
    ['a server error', { status: 503 }],
    ['a broken connection', 'reset' as const],
    ['too many requests', { status: 429 }],
    ['an answer that is none', { status: 200, body: { status: 'perhaps' } }],
  ])('gets over %s', async (_, answer) => {
    let left = 2;
    external.interfere((one) =>
      one.path === path('database') && one.method === 'PUT' && left-- > 0 ? answer : undefined,
    );
    await make();
    expect(await ended()).toMatchObject({ status: 'ready', errorCode: null });
    expect(asked('PUT', 'database')).toHaveLength(3);
    expect(asked('PUT', 'storage')).toHaveLength(1);
  });

  // Guards: a final failure has a reason that a person can act on, keeps what was made before on record, and uses no
  // attempt too many.
  test.each([
    ['a refusal', { status: 422, body: { code: 'quota', message: 'No more databases' } }, 'quota', 1],
    ['a redirect', { status: 302, body: {} }, 'provisioner_refused', 1],
    ['giving up', { status: 200, body: { status: 'failed', code: 'no_host', message: 'No host' } }, 'no_host', 1],
    ['an endless error', { status: 500, body: 'canary-of-a-stack' }, 'provisioner_refused', 3],
    ['an endless silence', 'reset' as const, 'provisioner_unreachable', 3],
  ])('ends with %s', async (_, answer, code, times) => {
    external.interfere((one) => (one.path === path('database') ? answer : undefined));
    await make();
    const row = await ended();
    expect(row).toMatchObject({ status: 'failed', errorCode: code, runtimeBaseUrl: null, readyAt: null });
    expect(row.errorMessage).not.toMatch(/canary|127\.0\.0\.1/);
    expect(Object.keys(row.provisioned)).toEqual(['storage']);
    expect(asked('PUT', 'database')).toHaveLength(times);

    // Trying again meets what is there.
    external.interfere(() => undefined);
    await store().retry(id);
    await lookAfter(service);
    expect(await ended()).toMatchObject({ status: 'ready', errorCode: null, errorMessage: null });
    expect(external.resources.get(path('storage'))).toBeDefined();
  });

  // Guards: a runtime that cannot be reached does not count as made.
  test('a runtime that does not answer', async () => {
    external.interfere((one) => (one.path === '/runtime' ? { status: 503 } : undefined));
    await make();
    expect(await ended()).toMatchObject({ status: 'failed', errorCode: 'runtime_unreachable' });
  });
});

describe('a worker that dies', () => {
  // Guards: a provisioning survives its workers, and nothing is made twice.
  test('in the middle of a provisioning', async () => {
    const slow = await startExternalProvisioner({ slowness: 1_000_000 });
    const other = await startTestService({ env: { ...SETTINGS, PROVISIONER_URL: slow.url }, worker: false });
    try {
      const workspaces = other.services.stores.workspaces;
      const first = await other.startWorker();
      await workspaces.create({ workspaceId: id, plan: 'free', config: null });
      await lookAfter(other);
      await eventually(async () => {
        expect(Object.keys(present(await workspaces.find(id)).provisioned)).toEqual(['storage']);
      });
      await first.close();
      expect(await workspaces.find(id)).toMatchObject({ status: 'provisioning' });
      for (const resource of slow.resources.values()) resource.looksLeft = 0;
      slow.interfere((one) =>
        one.method === 'PUT' && one.path !== path('storage') ? ready(slow, one.path) : undefined,
      );
      await other.startWorker();
      await eventually(async () => expect(await workspaces.find(id)).toMatchObject({ status: 'ready' }));
      expect([...slow.resources.keys()]).toEqual([path('storage')]);
    } finally {
      await other.close();
      await slow.close();
    }
  });
});

/** Without a wait. */
const ready = ({ url }: ExternalProvisioner, at: string) => ({
  status: 200,
  body: { status: 'ready', id: 'made', ...(at.endsWith('/server') && { runtime_base_url: `${url}/runtime` }) },
});

describe('an operator in between', () => {
  // Guards: a state that an operator sets during a provisioning stays, and its workflow ends silently.
  test('cuts a provisioning off', async () => {
    let isHeld = true;
    external.interfere((one) =>
      isHeld && one.path === path('cache') ? { status: 200, body: { status: 'creating' } } : undefined,
    );
    await make();
    await eventually(async () => expect((await rowOf()).provisioned).toHaveProperty('cache'));
    const before = await rowOf();
    const state = { status: 'failed', error_code: 'maintenance' };
    await service.services.workspaces.setState(id, state);
    const handle = service.runtime.temporal.client.workflow.getHandle(
      service.runtime.config.TASK_QUEUE_PREFIX + provisionWorkflowId(before),
    );
    await eventually(async () => expect((await handle.describe()).status.name).not.toBe('RUNNING'));
    isHeld = false;
    expect(await rowOf()).toMatchObject({ status: 'failed', errorCode: 'maintenance' });
    expect(asked('PUT', 'server')).toEqual([]);
    // And all that was made goes, recorded or not.
    expect(await destroy()).toMatchObject({ status: 'archived' });
    expect([...external.resources.keys()].filter((one) => one.startsWith(path('')))).toEqual([]);
  });
});

// Guards: operators see names and numbers in Temporal, and the provisioner's token nowhere.
test('histories hold references only', async () => {
  await make();
  await ended();
  await destroy();
  const { customerId, generation } = await rowOf();
  const { TASK_QUEUE_PREFIX } = service.runtime.config;
  const histories = await eventually(async () => {
    const all = await readHistories(service.runtime.temporal, TASK_QUEUE_PREFIX);
    expect([...all.keys()]).toContain(TASK_QUEUE_PREFIX + destroyWorkflowId({ customerId, generation }));
    return all;
  });
  const text = [...histories.values()].join('\n');
  expect(text).not.toMatch(/token-of-the-provisioner|canary/);
});
