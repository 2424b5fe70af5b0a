/** GET /v1/system/info and POST /v1/system/reload, and the signal that does the same. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { openTestDatabase } from '../../support/database/database.ts';
import { startTestService, TEST_SECRETS, type Tenant, type TestService } from '../../support/service/service.ts';

let folder: string;
let service: TestService;
let operator: Tenant;
let tenant: Tenant;
const pricesFile = () => join(folder, 'prices.json');
const serversFile = () => join(folder, 'servers.json');
const writePrices = (usd: unknown) =>
  writeFile(pricesFile(), JSON.stringify({ offline: { input_usd_per_mtok: usd, output_usd_per_mtok: 0 } }));
const writeServers = (servers: object) => writeFile(serversFile(), JSON.stringify(servers));
const server = (command: string) => ({ command, env: { KEY: 'sesame' } });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-system-'));
  await writePrices(1);
  await writeServers({ kept: server('kept'), changed: server('old'), gone: server('gone') });
  service = await startTestService({
    worker: false,
    env: { MODEL_PRICES: pricesFile(), MCP_SERVERS: serversFile() },
  });
  operator = await service.tenant('acc_internal', 'internal');
  tenant = await service.tenant('acc_small', 'free');
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

const reload = (body?: unknown) => operator.cp('POST', '/v1/system/reload', body);
/** Of a million tokens. */
const price = () =>
  service.services.models.price({ model: 'offline', provider: 'offline' }, { inputTokens: 1_000_000, outputTokens: 0 });
const operators = () => service.services.mcp.operators;

// Guards: everybody can read what holds for them; how the deployment is run is for the operator.
test('tells what the deployment is', async () => {
  const { status, body } = await tenant.cp('GET', '/v1/system/info');
  expect([status, body]).toEqual([
    200,
    {
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      node: process.versions.node,
      surfaces: 'all',
      billing_mode: 'internal_noop',
      models: { providers: [], available: ['offline'], unpriced: [] },
      embedding: {
        model: 'universal-sentence-encoder-lite-en',
        dimensions: 512,
        languages: ['English'],
        scripts: ['Latin'],
      },
      plan: {
        plan: 'free',
        in_force: 'free',
        tier: 'free',
        caps: expect.objectContaining({ runs_per_day: 100, api_keys: 2 }),
      },
      limits: expect.objectContaining({ json_body_bytes: 1_048_576, upload_files: 10, run_detail_ttl_s: 604_800 }),
    },
  ]);
  const { body: full } = await operator.cp('GET', '/v1/system/info');
  expect(full.plan.caps.runs_per_day).toBeNull();
  expect(full.operations).toMatchObject({
    files: 'local',
    mail: 'log',
    mcp_servers: ['kept', 'changed', 'gone'],
    temporal_address: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
    base_url: null,
    extensions: [],
    late: [],
  });
  expect(JSON.stringify(full)).not.toMatch(/sesame|-of-the-tests|postgres:/);
});

// Guards: files are read anew; an unchanged connection stays, and a changed or removed one is closed.
test('reloads', async () => {
  const [kept, changed] = [operators().get('kept'), operators().get('changed')];
  expect(price()).toBe('1');
  await writePrices(2);
  await writeServers({ kept: server('kept'), changed: server('new'), added: server('added') });
  expect(await reload({ log_level: 'fatal' })).toMatchObject({
    status: 200,
    body: {
      reloaded: ['model_prices', 'mcp_servers', 'log_level'],
      mcp_servers: ['kept', 'changed', 'added'],
      log_level: 'fatal',
    },
  });
  expect(price()).toBe('2');
  expect(service.runtime.log.level).toBe('fatal');
  expect(operators().get('kept')).toBe(kept);
  expect(operators().get('changed')).not.toBe(changed);
  expect((await reload()).body.reloaded).toEqual(['model_prices', 'mcp_servers']);
});

// Guards: with one bad file nothing changes, not even from the good one, and the answer names it without its secrets.
test.each([
  ['MCP_SERVERS', () => writeServers({ kept: { ...server('kept'), unknown: 1 } })],
  ['MCP_SERVERS', () => rm(serversFile())],
  ['MODEL_PRICES', () => writePrices('dear')],
  ['MODEL_PRICES', () => writeFile(pricesFile(), '{')],
])('keeps what it has when %s cannot be read', async (name, spoil) => {
  await writePrices(3);
  await writeServers({});
  await spoil();
  const { status, body } = await reload({ log_level: 'trace' });
  expect([status, body.detail]).toEqual([400, expect.stringContaining(name)]);
  expect(JSON.stringify(body)).not.toContain('sesame');
  expect([price(), [...operators().keys()], service.runtime.log.level]).toEqual([
    '2',
    ['kept', 'changed', 'added'],
    'fatal',
  ]);
});

// Guards: reloading is for the operator, and a senseless body is refused.
test('is for the operator', async () => {
  expect(await tenant.cp('POST', '/v1/system/reload')).toMatchObject({
    status: 403,
    body: { detail: 'internal_only' },
  });
  for (const body of [{ log_level: 'loud' }, { prices: {} }, [], null]) expect((await reload(body)).status).toBe(400);
});

// Guards: a process without a listener, such as a worker, reloads on a signal, and a bad file does not end it.
test('reloads at SIGHUP', async () => {
  const database = await openTestDatabase();
  await writePrices(1);
  await writeServers({});
  const child = spawn(process.execPath, ['src/api.ts'], {
    cwd: fileURLToPath(new URL('../../..', import.meta.url)),
    env: {
      ...TEST_SECRETS,
      PATH: process.env.PATH,
      PORT: '0',
      CONTROL_PLANE_PORT: '0',
      DATA_DIR: folder,
      MODEL_PRICES: pricesFile(),
      DATABASE_URL: database.url,
      DATABASE_POOL_SIZE: '1',
      TEMPORAL_ADDRESS: process.env.TEST_TEMPORAL_ADDRESS,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const until = async (text: string) => {
      for (let line = await lines.next(); !line.done; line = await lines.next()) {
        if (line.value.includes(`"msg":"${text}"`)) return line.value;
      }
      throw new Error(`the process ended before it said ${text}`);
    };
    await until('listening');
    child.kill('SIGHUP');
    expect(await until('reloaded')).toContain('model_prices');
    await writePrices('dear');
    child.kill('SIGHUP');
    expect(await until('the files could not be read anew')).toContain('MODEL_PRICES');
  } finally {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    await database.close();
  }
});
