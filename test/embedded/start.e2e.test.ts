/** The embedded service as a process: what it answers, what it leaves, what a second one on its directory meets. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { LOCAL_OWNER, type Credentials } from '../../src/embedded/credentials.ts';
import { startTime } from '../../src/embedded/stale.ts';
import { present } from '../../src/platform/core/present.ts';
import { readyLine, startCli, type CliProcess } from './service-process.ts';

const run = promisify(execFile);
let dataDir: string;
let service: CliProcess | undefined;

const FREE_PORTS = { PORT: '0', CONTROL_PLANE_PORT: '0' };
const env = () => ({ ...FREE_PORTS, DATA_DIR: dataDir });
const credentials = async () => JSON.parse(await readFile(join(dataDir, 'credentials.json'), 'utf8')) as Credentials;
const processes = async () =>
  JSON.parse(await readFile(join(dataDir, 'processes.json'), 'utf8')) as Record<
    string,
    { pid: number; startedAt: string }
  >;
const isRunning = async ({ pid, startedAt }: { pid: number; startedAt: string }) =>
  (await startTime(pid)) === startedAt;

async function end(signal: NodeJS.Signals): Promise<number | null> {
  present(service).child.kill(signal);
  return present(service).ended;
}

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'aos-start-'));
});
afterAll(async () => {
  if (service && service.child.exitCode === null && service.child.signalCode === null) await end('SIGKILL');
  // A killed service's database ends by itself, and may still be writing its last.
  await rm(dataDir, { recursive: true, force: true, maxRetries: 40, retryDelay: 100 });
});

// Guards: one command gives a service whose printed curl line works, and private credentials of the promised form.
test('starts, and what it prints works as printed', async () => {
  service = startCli(['start'], env());
  const { curl, base_url, api_key } = await readyLine(service);
  const { stdout } = await run('sh', ['-c', curl]);
  expect(JSON.parse(stdout)).toEqual({ run_id: expect.stringMatching(/^[0-9a-z]{26}$/), status: 'queued' });

  const kept = await credentials();
  expect(Object.keys(kept)).toEqual([
    'base_url',
    'control_plane_url',
    'temporal_address',
    'temporal_ui_url',
    'database_url',
    'api_key',
    'session_cookie',
    'operator_token',
  ]);
  expect(kept).toMatchObject({ base_url, api_key });
  for (const file of ['credentials.json', 'secrets.json']) {
    expect((await stat(join(dataDir, file))).mode & 0o777).toBe(0o600);
  }
  const listed = await fetch(`${base_url}/api/v1/cp/v1/api-keys`, {
    headers: { cookie: `service_session=${kept.session_cookie}` },
  });
  expect(listed.status).toBe(200);
  // A key without a maker would be a second voter beside the session of the same person.
  expect(await listed.json()).toMatchObject({ data: [{ name: 'first key', made_by: LOCAL_OWNER }] });
});

// Guards: two services never write to one data directory.
test('refuses a directory that a running service uses', async () => {
  const second = startCli(['start'], env());
  expect(await second.ended).toBe(1);
  expect(second.stderr()).toContain(`DATA_DIR: ${dataDir} is in use by a running service`);
});

// Guards: SIGTERM drains and leaves no process behind; the next start continues with the same data and key.
test('stops on SIGTERM and continues on the next start', async () => {
  const before = await credentials();
  const children = Object.values(await processes());
  expect(await end('SIGTERM')).toBe(0);
  expect(await Promise.all(children.map(isRunning))).toEqual([false, false, false]);

  const { port: PORT } = new URL(present(before.base_url));
  service = startCli(['start'], { ...env(), PORT });
  // Guards: whoever waits for readiness finds the credentials of this start, and not those of the last one.
  const isReady = () =>
    fetch(`http://127.0.0.1:${PORT}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) await setTimeout(5);
  const atReadiness = await credentials();
  const { base_url, api_key } = await readyLine(service);
  expect(await credentials()).toEqual(atReadiness);
  expect(atReadiness.control_plane_url).not.toBe(before.control_plane_url);
  expect(api_key).toBe(before.api_key);
  const runs = startCli(['runs', '--json'], { DATA_DIR: dataDir });
  expect(await runs.ended).toBe(0);
  expect(JSON.parse(runs.stdout())).toMatchObject({ data: [{ agent: 'assistant' }] });
  expect(base_url).toBe((await credentials()).base_url);
});

// Guards: a killed service ends its servers, or the next start does, so that two never use the same files.
test('recovers after kill -9', async () => {
  const { service: self, ...children } = await processes();
  expect(present(self).pid).toBe(present(service).child.pid);
  await end('SIGKILL');
  service = startCli(['start'], env());
  await readyLine(service);
  expect(await Promise.all(Object.values(children).map(isRunning))).toEqual([false, false]);
});

// Guards against: a killed service that cannot be started again because what is left of it holds a port from the
// settings.
test('recovers with its Temporal left behind, on its port, and noted nowhere', async () => {
  const { postgres, temporal } = await processes();
  const { port: TEMPORAL_PORT } = new URL(`http://${(await credentials()).temporal_address}`);
  // It would take Temporal along.
  process.kill(present(postgres).pid, 'SIGSTOP');
  await end('SIGKILL');
  process.kill(present(postgres).pid, 'SIGKILL');
  await rm(join(dataDir, 'processes.json'));
  expect(await isRunning(present(temporal))).toBe(true);
  service = startCli(['start'], { ...env(), TEMPORAL_PORT });
  await readyLine(service);
  expect(await isRunning(present(temporal))).toBe(false);
  expect((await credentials()).temporal_address).toContain(`:${TEMPORAL_PORT}`);
});

// Guards: `run --follow` shows the timeline to its end and says by its exit code how the run went.
test('follows a run from the command line', async () => {
  const prompt = 'What is 2 + 3? [[tool:calculator {"expression":"2+3"}]]';
  const good = startCli(['run', 'assistant', prompt, '--follow'], { DATA_DIR: dataDir });
  expect(await good.ended).toBe(0);
  for (const part of ['tool_call', 'calculator -> result=5', 'run_completed', '/namespaces/default/workflows/run-']) {
    expect(good.stdout()).toContain(part);
  }
  const bad = startCli(['run', 'no-such-agent', 'Hello'], { DATA_DIR: dataDir });
  expect(await bad.ended).toBe(1);
  expect(bad.stderr()).toBe('error: unknown agent: no-such-agent (POST /v1/runs)\n');
});
