/** What is followed on the command line comes from the stream, and from lists where the stream is refused. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { first, last, present } from '../../src/platform/core/present.ts';
import { startCli, type CliProcess } from '../embedded/service-process.ts';
import { answer, answerWhen, startOpenAiServer, type OpenAiServer } from '../support/fakes/openai-server.ts';
import {
  gateStep,
  makeTemplate,
  phaseSpec,
  startProject,
  untilGate,
  untilProject,
} from '../support/fixtures/projects.ts';
import { openStream, type OpenStream } from '../support/http/event-stream.ts';
import { startCountingGateway, type CountingGateway } from '../support/processes/counting-gateway.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../support/service/service.ts';

let service: TestService;
let gateway: CountingGateway;
let provider: OpenAiServer;
let tenant: Tenant;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-following-'));
  provider = await startOpenAiServer();
  service = await startTestService({
    env: {
      LIVE_STREAM_LIFE: '1h',
      LIVE_STREAMS_PER_WORKSPACE: '1',
      OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl,
      OPENAI_COMPATIBLE_MODEL: 'scripted',
    },
  });
  gateway = await startCountingGateway([service.baseUrl]);
  tenant = await service.tenant('acc_following');
  await makeTemplate(tenant, 'gated', [phaseSpec('main', [gateStep('check')])]);
});
afterAll(async () => {
  await gateway?.close();
  await service?.close();
  await provider?.close();
  await rm(folder, { recursive: true, force: true });
});

const streams: OpenStream[] = [];
beforeEach(() => {
  provider.reset();
  gateway.passedSince();
});
afterEach(async () => {
  await Promise.all(streams.splice(0).map((stream) => stream.close()));
});
/** Nobody else of the workspace has a stream then. */
async function takeTheStream(): Promise<void> {
  const url = `${service.baseUrl}/api/v1/cp/v1/live`;
  const open = () => openStream(url, { cookie: `service_session=${tenant.session}` });
  // The place of the test before may be given back a moment later.
  const stream = await eventually(async () => {
    const opened = await open();
    expect(opened.response.status).toBe(200);
    return opened;
  });
  streams.push(stream);
  await stream.first(({ event }) => event === 'open');
}
const environment = () => ({
  DATA_DIR: folder,
  AOS_URL: gateway.url,
  AOS_API_KEY: tenant.apiKey,
  AOS_SESSION: tenant.session,
});
const aos = (...args: string[]): CliProcess => startCli(args, environment());
/** On a terminal of its own, whose keyboard nobody uses. */
const onTerminal = (...args: string[]): CliProcess =>
  startCli(args, environment(), undefined, [
    'sh',
    '-c',
    'exec script -qefc "$(printf "\'%s\' " "$@")" /dev/null',
    'sh',
  ]);
const paths = () => gateway.passedSince().map(({ path }) => first(path.split('?')));
const streamed = () => paths().filter((path) => path.endsWith('/v1/live'));

// Guards: on a terminal a text is read while the model still writes it, and stands there once; the list is read where the stream
// begins and where it ends, not again and again.
test('a text is read along', async () => {
  let finish = () => {};
  provider.script(
    answerWhen(['Once upon', ' a time'], (piece) =>
      piece === 'Once upon' ? Promise.resolve() : new Promise((go) => (finish = go)),
    ),
  );
  const run = onTerminal('run', 'assistant', 'Write.', '--follow');
  await eventually(() => expect(run.stdout()).toContain('Once upon'));
  expect(run.stdout()).not.toContain('a time');
  finish();
  expect({ code: await run.ended, shown: run.stdout() }).toEqual({
    code: 0,
    // What its end says of it has no need to repeat it.
    shown: expect.stringMatching(/Once upon a time\r?\n[^]*run_completed[^]*status +succeeded(?![^]*Once upon)/),
  });
  const asked = paths();
  expect(asked.filter((path) => path.endsWith('/v1/live'))).toHaveLength(1);
  expect(asked.filter((path) => path.endsWith('/events'))).toHaveLength(2);
});

// Guards: where the stream is refused the same is shown from lists: each event once, to the end.
test('a run is followed without a stream', async () => {
  await takeTheStream();
  provider.script(answer('Said.'));
  const run = aos('run', 'assistant', 'Write.', '--follow', '--json');
  expect({ code: await run.ended, stderr: run.stderr() }).toEqual({ code: 0, stderr: '' });
  const lines = run
    .stdout()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const { run_id } = present(lines.pop());
  const { body } = await tenant.cp('GET', `/v1/runs/${String(run_id)}/events`);
  expect(lines).toEqual(body.data);
  expect(last(lines)).toMatchObject({ event_type: 'run_completed' });
  expect(gateway.answered.get(429)).toBe(1);
});

// Guards: a project is watched to its end, by the stream and without one.
test.each([
  ['by the stream', false],
  ['without a stream', true],
])('a project is watched %s', async (_how, isTaken) => {
  if (isTaken) await takeTheStream();
  const id = await startProject(tenant, 'gated');
  const gate = await untilGate(tenant, id, 'main', 'check');
  const watching = aos('project', 'watch', id);
  await eventually(() => expect(watching.stdout()).toContain(`aos project approve ${id} main/check`));
  if (!isTaken) await eventually(() => expect(streamed()).toHaveLength(1));
  await gate.approve();
  expect({ code: await watching.ended, stderr: watching.stderr() }).toEqual({ code: 0, stderr: '' });
  expect(watching.stdout()).toMatch(/gate_resolved[^]*project_completed[^]*\ncompleted/);
  await untilProject(tenant, id, 'completed');
});

// Guards: the inbox is watched by the stream, and by reading it again and again without one; each wait is told once.
test.each([
  ['by the stream', false],
  ['without a stream', true],
])('the inbox is watched %s', async (_how, isTaken) => {
  if (isTaken) await takeTheStream();
  const watching = aos('inbox', '--watch', '--kind', 'gate');
  try {
    if (!isTaken) await eventually(() => expect(streamed()).toHaveLength(1));
    const id = await startProject(tenant, 'gated');
    const gate = await untilGate(tenant, id, 'main', 'check');
    const told = (what: string) => watching.stdout().match(new RegExp(`^${what} `, 'gm'));
    await eventually(() => expect(told('waits')).toHaveLength(1));
    await gate.approve();
    await eventually(() => expect(told('settled')).toHaveLength(1));
    expect(told('waits')).toHaveLength(1);
    await untilProject(tenant, id, 'completed');
  } finally {
    watching.child.kill();
    await watching.ended;
  }
});
