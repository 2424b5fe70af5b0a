/** What `aos doctor` learns from the service that runs: how it is, what it is configured with, and what to do about the rest. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { examineService } from '../../src/cli/doctor-service.ts';
import { startTestService, type Tenant, type TestService } from '../support/service/service.ts';

let folder: string;
let service: TestService;
let operator: Tenant;
let tenant: Tenant;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-doctor-'));
  service = await startTestService({
    worker: false,
    env: {
      OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:9/v1',
      OPENAI_COMPATIBLE_MODEL: 'own-model',
      EXTENSIONS: 'sse',
    },
  });
  operator = await service.tenant('acc_internal', 'internal');
  tenant = await service.tenant('acc_patient');
});
afterAll(async () => {
  await service?.close();
  await rm(folder, { recursive: true, force: true });
});

const examine = async (env: NodeJS.ProcessEnv) => {
  const { findings, toldModels } = await examineService({ DATA_DIR: folder, ...env });
  const of = (name: string) => findings.find(({ check }) => check === name);
  return { findings, toldModels, of };
};
const at = ({ session }: Tenant) => ({ AOS_URL: service.baseUrl, AOS_SESSION: session });

// Guards: whoever operates the service is told all that it is configured with, without a secret, and what to do where something is wrong.
test('the service as its operator sees it', async () => {
  await service.runtime.db.rows(sql`
    insert into workspaces (identity_workspace_id, customer_id, plan, status, due_at)
    values ('acc_late', 'late', 'free', 'pending', now() - interval '1 hour')`);
  const { findings, toldModels, of } = await examine(at(operator));
  expect(toldModels).toBe(true);
  expect(of('service')).toEqual({ check: 'service', status: 'ok', detail: `${service.baseUrl} is ready` });
  expect(of('service workers.orchestration')).toMatchObject({
    status: 'failed',
    detail: 'down: no worker',
    mend: expect.stringContaining('start a worker'),
  });
  expect(of('service models')).toMatchObject({ status: 'ok', detail: 'own-model, offline' });
  expect(of('service prices')).toMatchObject({
    status: 'warning',
    detail: expect.stringMatching(/^not known: own-model;/),
    mend: expect.stringContaining('OPENAI_COMPATIBLE_PRICE'),
  });
  expect(of('service uses Temporal')?.detail).toMatch(/^127\.0\.0\.1:\d+, namespace \S+, \S+$/);
  expect(of('service sends mail')?.detail).toContain('written to the log');
  expect(of('service keeps files')?.detail).toBe('below DATA_DIR');
  expect(of('service extensions')?.detail).toBe('sse');
  expect(of('housekeeping')).toMatchObject({
    status: 'warning',
    detail: 'startWorkspaces: 1 due, 60 min late',
    mend: expect.stringContaining('AosChoresBehind'),
  });
  expect(findings.filter(({ status, mend }) => status !== 'ok' && !mend)).toEqual([]);
  expect(JSON.stringify(findings)).not.toMatch(/-of-the-tests|postgres:\/\//);
});

// Guards: a tenant is told what holds for it and nothing of how the deployment is run.
test('the service as a tenant sees it', async () => {
  const { of, findings } = await examine(at(tenant));
  expect(of('service settings')?.detail).toContain('shown to members of the workspace that operates it');
  expect(of('service models')).toMatchObject({ status: 'ok' });
  for (const hidden of ['service uses Temporal', 'service sends mail', 'service keeps files', 'housekeeping'])
    expect(of(hidden)).toBeUndefined();
  expect(JSON.stringify(findings)).not.toMatch(/127\.0\.0\.1|namespace/);
});

// Guards: where nothing runs, or nothing can be asked, that is what is said, with the next step; only what was named has failed.
test('no service, and no session', async () => {
  expect(await examine({})).toMatchObject({
    toldModels: false,
    findings: [{ check: 'service', status: 'warning', mend: `start it: DATA_DIR=${folder} npm start` }],
  });
  expect(await examine({ AOS_URL: 'http://127.0.0.1:9' })).toMatchObject({
    findings: [{ check: 'service', status: 'failed', mend: expect.stringContaining('AOS_URL') }],
  });
  expect((await examine({ AOS_URL: service.baseUrl })).of('session')).toMatchObject({
    status: 'warning',
    mend: expect.stringContaining('aos login'),
  });
  expect((await examine({ AOS_URL: service.baseUrl, AOS_SESSION: 'wrong' })).of('session')).toMatchObject({
    status: 'failed',
    detail: expect.stringContaining('does not count'),
  });
});
