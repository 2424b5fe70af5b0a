/**
 * Backup and restore as the operator's handbook has them: work that was in flight goes on elsewhere. The file of
 * `aos backup` has everything; a dump of the database and the files are enough, as what Temporal knew is made again.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { readCredentials } from '../../src/embedded/credentials.ts';
import { createLog } from '../../src/platform/core/log.ts';
import { present } from '../../src/platform/core/present.ts';
import { connectTo } from '../support/temporal/temporal.ts';
import { openNativePostgres } from '../support/database/native-postgres.ts';
import { readyLine, startCli, type CliProcess } from '../embedded/service-process.ts';
import { withDatabase } from '../support/database/database-template.ts';
import { drawn } from '../support/runner/sizes.ts';
import { agentStep, gateStep, phaseSpec } from '../support/fixtures/projects.ts';
import { endsOf, tool } from '../support/fixtures/runs.ts';
import { call, eventually } from '../support/service/service.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/fakes/webhook-receiver.ts';

const execute = promisify(execFile);

let receiver: WebhookReceiver;
let folder: string;
let service: CliProcess | undefined;
let mayAnswer = Promise.withResolvers<void>();
beforeAll(async () => {
  receiver = await startWebhookReceiver(async ({ path }) => {
    if (path === '/posted') return 'timeout';
    if (path === '/held') await mayAnswer.promise;
    return { status: 200, body: path };
  });
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-backup-'));
  receiver.received.length = 0;
  mayAnswer = Promise.withResolvers<void>();
});
afterEach(async () => {
  mayAnswer.resolve();
  // In order, as nobody else stops the Temporal of a service whose database is elsewhere.
  if (service) await stop('SIGTERM');
  await rm(folder, { recursive: true, force: true, maxRetries: 40, retryDelay: 100 });
});
afterAll(() => receiver?.close());

const envOf = (dataDir: string, more: NodeJS.ProcessEnv = {}) => ({
  PORT: '0',
  CONTROL_PLANE_PORT: '0',
  DATA_DIR: dataDir,
  EGRESS_ALLOWLIST: receiver.hostAndPort,
  HOUSEKEEPING_INTERVAL: '1s',
  LOST_WORK_INTERVAL: '1s',
  // Calls that nobody answers would be waited for.
  SHUTDOWN_GRACE: '1s',
  WEBHOOK_ALLOW_HTTP: 'true',
  ...more,
});
async function stop(signal: NodeJS.Signals): Promise<void> {
  present(service).child.kill(signal);
  await present(service).ended;
  service = undefined;
}
async function aos(args: string[], dataDir: string): Promise<{ code: number | null; stderr: string }> {
  const process = startCli(args, { DATA_DIR: dataDir });
  return { code: await process.ended, stderr: process.stderr() };
}

/** A running service and its one tenant. */
async function start(dataDir: string, more?: NodeJS.ProcessEnv) {
  service = startCli(['start'], envOf(dataDir, more));
  await readyLine(service);
  const credentials = present(await readCredentials(dataDir));
  const { base_url: url, api_key: key, session_cookie: session } = credentials;
  return {
    credentials,
    api: (method: string, path: string, body?: unknown) =>
      call(present(url) + path, method, { authorization: `Bearer ${key}` }, body),
    cp: (method: string, path: string, body?: unknown) =>
      call(`${url}/api/v1/cp${path}`, method, { cookie: `service_session=${session}` }, body),
  };
}
type Running = Awaited<ReturnType<typeof start>>;

interface InFlight {
  key: string;
  reading: string;
  posting: string;
  project: string;
  artifact: string;
}
const at = (path: string) => `http://${receiver.hostAndPort}/${path}`;
const timesAt = (path: string) => receiver.received.filter((request) => request.path === `/${path}`).length;

/** Runs in the midst of tool calls, one of them irreversible, a project at its gate, a file, and a schedule. */
async function beginWork({ api, cp, credentials }: Running): Promise<InFlight> {
  const created = async (answer: ReturnType<typeof api>) => {
    const { status, body } = await answer;
    expect({ status, body }).toMatchObject({ status: 201 });
    return body;
  };
  const run = async (prompt: string): Promise<string> =>
    (await created(api('POST', '/v1/runs', { agent: 'assistant', prompt }))).run_id;
  await created(api('POST', '/v1/webhooks', { url: at('hook'), events: ['*'] }));
  const artifact = await run(tool('save_artifact', { filename: 'a.txt', content: 'Kept.' }));
  const reading = await run(
    `${tool('calculator', { expression: '6 * 7' })} [[then]] ${tool('http_request', { url: at('held') })}`,
  );
  const posting = await run(tool('http_request', { method: 'POST', url: at('posted'), body: '{}' }));
  const phases = [
    phaseSpec('text', [agentStep('write'), gateStep('approve')]),
    phaseSpec('page', [agentStep('write')], { depends_on: ['text'] }),
  ];
  await created(cp('POST', '/v1/workflows', { spec: { slug: 'gated', version: 1, title: 'Gated', phases } }));
  const { project_id: project } = await created(
    api('POST', '/v1/projects', { workflow_slug: 'gated', brief: 'Bread.' }),
  );
  const job = { name: 'nightly', agent_slug: 'writer', cron: '0 3 * * *', brief: 'Write.' };
  await created(cp('POST', '/v1/scheduled-jobs', job));
  await eventually(() => expect([timesAt('held'), timesAt('posted')]).toEqual([1, 1]));
  await eventually(async () => expect((await gateOf(cp, project)).status).toBe('blocked'));
  await eventually(async () => expect((await api('GET', `/v1/runs/${artifact}`)).body.status).toBe('succeeded'));
  return { key: credentials.api_key, reading, posting, project, artifact };
}

async function gateOf(cp: Running['cp'], project: string): Promise<{ id: string; status: string }> {
  const { body: tasks } = await cp('GET', `/v1/projects/${project}/tasks`);
  const { id } = tasks.data.find(({ phase_slug }: { phase_slug: string }) => phase_slug === 'text');
  const { body: steps } = await cp('GET', `/v1/projects/${project}/tasks/${id}/subtasks`);
  return steps.data.find(({ kind }: { kind: string }) => kind === 'gate');
}

/** What was in flight comes to its one end, with what was there before. */
async function expectToGoOn({ api, cp, credentials }: Running, work: InFlight): Promise<void> {
  mayAnswer.resolve();
  expect(credentials.api_key).toBe(work.key);
  for (const id of [work.reading, work.posting]) {
    await eventually(async () => expect((await api('GET', `/v1/runs/${id}`)).body.status).toBe('succeeded'));
    const { body } = await cp('GET', `/v1/runs/${id}/events?limit=2000`);
    const types: string[] = body.data.map(({ event_type }: { event_type: string }) => event_type);
    expect(endsOf(types)).toEqual(['run_completed']);
  }
  // Nobody knows whether it took effect, so it is not sent again.
  expect(timesAt('posted')).toBe(1);

  const answer = async () => {
    const { id } = await gateOf(cp, work.project);
    const decision = { decision: 'approved' };
    expect((await cp('POST', `/v1/projects/${work.project}/subtasks/${id}/resolve-gate`, decision)).status).toBe(200);
  };
  await eventually(answer);
  await eventually(async () => {
    expect((await api('GET', `/v1/projects/${work.project}`)).body.status).toBe('completed');
  });
  const told = (id: string) => receiver.received.filter(({ path, body }) => path === '/hook' && body.includes(id));
  for (const id of [work.reading, work.posting, work.project]) await eventually(() => expect(told(id)).toHaveLength(1));

  const log = createLog({ level: 'silent', pretty: false });
  const temporal = await connectTo(credentials.temporal_address, log);
  try {
    await eventually(async () => {
      const { action } = await temporal.client.schedule.getHandle('job/internal/custom-1').describe();
      expect(action).toMatchObject({ workflowType: 'scheduledJob' });
    });
  } finally {
    await temporal.close();
  }
}

// Guards: one file holds everything: work that was in flight goes on with the same keys, and existing data is never
// overwritten.
async function fromFile(): Promise<void> {
  const [from, to, file] = [join(folder, 'from'), join(folder, 'to'), join(folder, 'backup.tar.gz')];
  const work = await beginWork(await start(from));
  expect(await aos(['backup', file], from)).toMatchObject({ code: 1, stderr: expect.stringContaining('is in use') });
  await stop('SIGTERM');
  expect((await aos(['backup', file], from)).code).toBe(0);
  expect((await stat(file)).mode & 0o777).toBe(0o600);

  await mkdir(to);
  await writeFile(join(to, 'mine.txt'), 'not to be lost');
  expect(await aos(['restore', file], to)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is not empty'),
  });
  await rm(join(to, 'mine.txt'));
  expect((await aos(['restore', file], to)).code).toBe(0);
  expect((await readdir(folder)).sort()).toEqual(['backup.tar.gz', 'from', 'to']);
  await expectToGoOn(await start(to), work);
}

// Guards: after a restore, Temporal's state is made again from the database, even after everything was killed at
// once.
async function withoutTemporal(): Promise<void> {
  const [from, to, file] = [join(folder, 'from'), join(folder, 'to'), join(folder, 'backup.tar.gz')];
  const work = await beginWork(await start(from));
  await stop('SIGKILL');
  expect((await aos(['backup', file], from)).code).toBe(0);
  expect((await aos(['restore', file], to)).code).toBe(0);
  for (const name of await readdir(to)) if (name.startsWith('temporal.db')) await rm(join(to, name));
  await expectToGoOn(await start(to), work);
}

/** Those of the server first: older ones refuse to dump it. */
const dumpTool = (name: string, binaries: string | undefined): string | undefined => {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql').sort().reverse() : [];
  const folders = [
    ...(binaries ? [binaries] : []),
    ...versions.map((version) => `/usr/lib/postgresql/${version}/bin`),
    ...present(process.env.PATH).split(':'),
  ];
  return folders.map((each) => join(each, name)).find((each) => existsSync(each));
};

// Guards: a dump taken during work, the files and the secrets are enough for a new machine and a new Temporal.
async function fromDump(): Promise<void> {
  const server = await openNativePostgres();
  if (typeof server === 'string') return console.warn(`SKIPPED: pg_dump and pg_restore are not tried: ${server}`);
  const [dump, restoreDump] = [dumpTool('pg_dump', server.binaries), dumpTool('pg_restore', server.binaries)];
  if (!dump || !restoreDump) {
    await server.close();
    return console.warn('SKIPPED: pg_dump and pg_restore are not tried: they are not installed');
  }
  const restored = `aos_restored_${process.pid}`;
  const admin = new pg.Client({ connectionString: withDatabase(server.url, 'postgres') });
  await admin.connect();
  try {
    const [from, to, file] = [join(folder, 'from'), join(folder, 'to'), join(folder, 'aos.dump')];
    const work = await beginWork(await start(from, { DATABASE_URL: server.url }));
    await execute(dump, ['--format=custom', `--file=${file}`, server.url]);
    await stop('SIGTERM');
    await admin.query(`create database ${restored} template template0`);
    const url = withDatabase(server.url, restored);
    await execute(restoreDump, ['--exit-on-error', '--no-owner', `--dbname=${url}`, file]);
    await mkdir(to, { mode: 0o700 });
    for (const name of ['secrets.json', 'credentials.json', 'files']) {
      await cp(join(from, name), join(to, name), { recursive: true });
    }
    await expectToGoOn(await start(to, { DATABASE_URL: url }), work);
    await stop('SIGTERM');
  } finally {
    await admin.query(`drop database if exists ${restored} with (force)`);
    await admin.end();
    await server.close();
  }
}

// Each of them starts two services, so a run that draws tries one.
test.each(
  drawn(
    'ways back',
    [
      ['the embedded service goes on from the file of aos backup', fromFile],
      ['the embedded service goes on without what Temporal knew', withoutTemporal],
      ['a service with a database of its own goes on from a dump', fromDump],
    ] as const,
    1,
  ),
)('%s', (_way, goOn) => goOn(), 300_000);

// Guards: a file that is no backup makes no data directory.
test('aos restore refuses another file', async () => {
  const [to, file] = [join(folder, 'to'), join(folder, 'other.tar.gz')];
  await writeFile(join(folder, 'a.txt'), 'a');
  await execute('tar', ['-czf', file, '-C', folder, 'a.txt']);
  expect(await aos(['restore', file], to)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is no backup'),
  });
  expect((await aos(['backup', file], to)).code).toBe(1);
  expect((await readdir(folder)).sort()).toEqual(['a.txt', 'other.tar.gz']);
});
