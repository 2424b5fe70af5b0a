/** What `aos doctor` learns from the service that runs: how it is, what it is configured with, and what to do about the rest. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { examineModelServers } from '../../src/cli/doctor-models.ts';
import { examineService } from '../../src/cli/doctor-service.ts';
import type { CheckResult } from '../../src/cli/findings.ts';
import { checkSettings } from '../../src/embedded/settings.ts';
import { inherited } from '../support/processes/inherited.ts';
import { portOf } from '../support/processes/listening.ts';
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
  const agent = { description: 'd', prompt: 'p' };
  for (const model of ['llama-9', 'auto', 'own-model'])
    expect((await operator.cp('POST', '/v1/agents', { ...agent, slug: `on-${model}`, model })).status).toBe(201);
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
    detail: expect.stringMatching(/^not known: own-model, llama-9;/),
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

/** @returns what `aos doctor --json` finds, with this `.env` beside it */
const doctor = async (dotEnv: string, env: Record<string, string> = {}): Promise<CheckResult[]> => {
  await writeFile(join(folder, '.env'), dotEnv);
  const cli = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
  return new Promise((resolve, reject) => {
    const options = { cwd: folder, env: { ...inherited(), ...env } };
    execFile(process.execPath, [cli, 'doctor', '--json'], options, (_error, stdout) => {
      try {
        resolve(JSON.parse(stdout));
      } catch (error) {
        reject(error);
      }
    });
  });
};

// Guards: what would end a start, or have no effect, is told without one.
test('the settings and the database of the next start', async () => {
  const nosuch = service.runtime.config.DATABASE_URL.replace(/\/[^/]*$/, '/nosuch');
  const found = await doctor(
    `EGRES_ALLOWLIST=a:1\nDATABASE_URL=${nosuch}\nMODEL_PRICES=/nowhere\nBASE_URL=https://example.com/aos`,
  );
  const of = (name: string) => found.filter(({ check }) => check === name);
  expect(of('settings')).toEqual([
    expect.objectContaining({
      status: 'failed',
      detail: expect.stringMatching(/^BASE_URL: expects an address without a path/),
    }),
    expect.objectContaining({
      status: 'warning',
      detail: expect.stringMatching(/^EGRES_ALLOWLIST: .*EGRESS_ALLOWLIST/),
    }),
  ]);
  expect(of('Postgres')).toEqual([
    {
      check: 'Postgres',
      status: 'failed',
      detail: 'DATABASE_URL: there is no database nosuch',
      mend: expect.stringContaining('createdb'),
    },
  ]);
  const files = await doctor('MODEL_PRICES=/nowhere\nMCP_SERVERS={\nEMBEDDING_DIMENSIONS=7');
  const told = files.filter(({ check }) => check === 'settings').map(({ detail }) => detail.split(':')[0]);
  expect(told).toEqual(['MODEL_PRICES', 'MCP_SERVERS', 'EMBEDDING_DIMENSIONS']);
});

// Guards: a model server that is away, at another path, with another key or model is found before a run is paid for.
test('the model servers', async () => {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.headers.authorization);
    response.setHeader('content-type', 'application/json');
    if (request.headers.authorization === 'Bearer wrong') return void response.writeHead(401).end('{}');
    if (request.url !== '/v1/models') return void response.writeHead(404).end('<html>');
    response.end(JSON.stringify({ object: 'list', data: [{ id: 'llama' }, { id: 'qwen' }] }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const base = `http://127.0.0.1:${portOf(server)}`;
  const ask = (env: Record<string, string>) => examineModelServers(checkSettings(env));
  const compatible = (address: string, model: string, key = 'right') =>
    ask({ OPENAI_COMPATIBLE_BASE_URL: address, OPENAI_COMPATIBLE_MODEL: model, OPENAI_COMPATIBLE_API_KEY: key });
  expect(await compatible(`${base}/v1/`, 'llama')).toMatchObject([
    { status: 'ok', detail: `${base}/v1 answers and has llama` },
  ]);
  expect(await compatible(`${base}/v1`, 'lama')).toMatchObject([
    { status: 'warning', mend: 'set OPENAI_COMPATIBLE_MODEL to one of llama, qwen' },
  ]);
  expect(await compatible(base, 'llama')).toMatchObject([
    { status: 'warning', detail: expect.stringContaining('404') },
  ]);
  expect(await compatible(`${base}/v1`, 'llama', 'wrong')).toMatchObject([
    { status: 'failed', mend: 'correct OPENAI_COMPATIBLE_API_KEY' },
  ]);
  expect(await ask({ OPENAI_API_KEY: 'wrong', OPENAI_BASE_URL: `${base}/v1` })).toMatchObject([
    { status: 'failed', mend: 'correct OPENAI_API_KEY' },
  ]);
  expect(asked).toContain('Bearer right');
  server.close();
  await once(server, 'close');
  expect(await compatible(`${base}/v1`, 'llama')).toMatchObject([
    { status: 'failed', detail: expect.stringContaining('does not answer'), mend: expect.stringContaining('start it') },
  ]);
  expect(await ask({})).toEqual([]);
});
