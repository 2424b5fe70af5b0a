/** Script, command and container tools as a workspace makes them and a run calls them. */
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { first } from '../../../src/platform/core/present.ts';
import { createCommandSandbox } from '../../../src/platform/sandbox/command.ts';
import { createContainerSandbox } from '../../../src/platform/sandbox/container.ts';
import { createSlots } from '../../../src/platform/sandbox/slots.ts';
import { createCommand } from '../../../src/resources/tools/custom/command.ts';
import { createContainer } from '../../../src/resources/tools/custom/container.ts';
import type { CustomKind } from '../../../src/resources/tools/custom/kind.ts';
import { ToolError, type CustomTool } from '../../../src/resources/tools/model.ts';
import { bubblewrapProgram } from '../../support/programs/bubblewrap.ts';
import { isMissing } from '../../support/programs/missing.ts';
import { dispatch, tool as callOf, untilStatus } from '../../support/fixtures/runs.ts';
import {
  eventually,
  startTestService,
  TEST_SECRETS,
  type Tenant,
  type TestService,
} from '../../support/service/service.ts';
import { createToolContext } from './tool-context.ts';

jest.setTimeout(60_000);

const MB = 1_024 * 1_024;
const bubblewrap = await bubblewrapProgram();
const limits = { bubblewrap, memoryBytes: 256 * MB, processes: 40, slots: createSlots(10) };
const isWithout = isMissing('command tools', createCommandSandbox({ ...limits, isOn: true }).problem());
const inBubblewrap = isWithout ? test.skip : test;

const SLUGS = ['script', 'command', 'loop'];
let service: TestService;
let tenant: Tenant;
beforeAll(async () => {
  const commands = { TOOLS_COMMAND: 'bwrap', TOOLS_BUBBLEWRAP: bubblewrap };
  service = await startTestService({ env: { TOOLS_CONCURRENCY: '1', ...(!isWithout && commands) } });
  tenant = await service.tenant('acc_acme');
  await tenant.cp('POST', '/v1/agents', {
    slug: 'caller',
    model: 'offline',
    prompt: 'You call tools.',
    allowed_tool_slugs: [...SLUGS, 'calculator'],
  });
});
afterAll(() => service?.close());

const SCHEMA = { type: 'object', properties: { n: { type: 'integer' }, text: { type: 'string' } } };
const post = (slug: string, kind: string, body: object) =>
  tenant.cp('POST', '/v1/tools', { slug, description: `Does ${slug}.`, kind, schema: SCHEMA, body });
const make = async (slug: string, kind: string, body: object) => {
  await tenant.cp('DELETE', `/v1/tools/${slug}?force=true`);
  expect(await post(slug, kind, body)).toMatchObject({ status: 201 });
};
const call = async (slug: string, args: object = {}): Promise<{ status: string; result: unknown }> => {
  const run = await tenant.run({ agent: 'caller', prompt: `Do it. ${callOf(slug, args)}` });
  expect(run.status).toBe('succeeded');
  const row = first(
    await service.runtime.db.rows<{ status: string; result: unknown }>(
      sql`select status, result from run_tool_calls where run_id = ${run.run_id}`,
    ),
  );
  return row;
};
const failed = (error: string) => ({ status: 'failed', result: { error: expect.stringContaining(error) } });

// Guards: a script's value is the result of the call, and its failure is answered to the model.
test('runs a script', async () => {
  await make('script', 'script', { script: 'return { doubled: args.n * 2 }' });
  expect(await call('script', { n: 21 })).toEqual({ status: 'succeeded', result: { doubled: 42 } });
  await make('script', 'script', { script: 'throw new Error(`no ${args.text}`)' });
  expect(await call('script', { text: 'luck' })).toMatchObject(failed('script: Error: no luck'));
});

// Guards: an invalid script or command is refused when it is written, as bad input.
test.each([
  ['script', { script: 'return {' }, 'body.script: '],
  ['script', { script: '}); (async () => {' }, 'body.script: '],
  ['script', { script: 'x'.repeat(65_537) }, 'body.script: '],
  ['script', { script: 'return 1', timeout_s: 301 }, 'body.timeout_s: '],
  ['script', { script: 'return 1', timeout_s: 0 }, 'body.timeout_s: '],
  ['script', { script: 'return 1', env: {} }, 'body'],
  ['container', { image: 'alpine' }, 'container tools are off here: TOOLS_CONTAINER'],
])('a %s of %j is refused', async (kind, body, detail) => {
  expect(await post('refused', kind, body)).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining(detail) },
  });
});

// Guards: an endless script ends at its limit, and the worker goes on with other work meanwhile.
test('an endless script ends, and the worker goes on', async () => {
  await make('loop', 'script', { script: 'while (true) {}', timeout_s: 2 });
  const looping = call('loop');
  expect(await call('calculator', { expression: '6*7' })).toMatchObject({ status: 'succeeded' });
  expect(await looping).toMatchObject(failed('not done within 2 seconds'));
});
test('cancelling a run ends its script', async () => {
  await make('loop', 'script', { script: 'while (true) {}', timeout_s: 300 });
  const runId = await dispatch(tenant, { agent: 'caller', prompt: callOf('loop', {}) });
  await eventually(async () => {
    const calls = await service.runtime.db.rows(sql`select 1 from run_tool_calls where run_id = ${runId}`);
    expect(calls).toHaveLength(1);
  });
  await tenant.cp('POST', `/v1/runs/${runId}/cancel`, {});
  await untilStatus(tenant, runId, 'cancelled');
  // There is one place, and it is free again.
  await make('script', 'script', { script: 'return 1' });
  expect(await call('script')).toMatchObject({ status: 'succeeded' });
});

// Guards: an argument fills its place in one element, whatever it is; braces that name no parameter stay.
inBubblewrap('runs a command', async () => {
  const argv = ['printf', '%s|', 'n={n}', '{text}', '--{text}--', '{print $1}', '{unknown}', ''];
  await make('command', 'command', { argv });
  const stdout = (text: string) => `n=1|${text}|--${text}--|{print $1}|{unknown}||`;
  for (const text of ['a b', `'; id; $(id) \`id\``, '-rf', '{n}', '"\n']) {
    const result = { exit_code: 0, stdout: stdout(text), stderr: '' };
    expect(await call('command', { n: 1, text })).toEqual({ status: 'succeeded', result });
  }
  // What was not given is left out, not empty.
  expect(await call('command', { n: 1 })).toMatchObject({ result: { stdout: 'n=1|{print $1}|{unknown}||' } });

  await make('command', 'command', { argv: ['cat'] });
  expect(await call('command', { n: 1, text: 'é' })).toMatchObject({ result: { stdout: '{"n":1,"text":"é"}' } });
  await make('command', 'command', { argv: ['bash', '-c', 'echo half; echo "no luck" >&2; exit 3'] });
  expect(await call('command')).toMatchObject(failed('exit code 3\nno luck\nhalf'));
});
inBubblewrap.each([
  [{ argv: [] }, 'body.argv'],
  [{ argv: ['{text}'] }, 'body.argv.0: names the program'],
  [{ argv: ['x'.repeat(8_001)] }, 'body.argv.0'],
  [{ argv: Array(101).fill('x') }, 'body.argv'],
  [{ argv: 'ls -l' }, 'body.argv'],
])('a command of %j is refused', async (body, detail) => {
  expect(await post('refused', 'command', body)).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining(detail) },
  });
});

// Guards: a command reaches nothing of the service: settings, database, Temporal, its own listeners.
inBubblewrap('a command finds nothing of the service', async () => {
  const { config } = service.runtime;
  const temporal = `http://${process.env.TEST_TEMPORAL_ADDRESS}`;
  const addresses = [config.DATABASE_URL, temporal, service.baseUrl, service.controlPlaneUrl]
    .map((address) => new URL(address))
    .flatMap(({ hostname, port }) => [`${hostname}/${port}`, `localhost/${port}`, `169.254.169.254/${port}`]);
  const tries = addresses.map((address) => `(exec 3<>/dev/tcp/${address}) 2> /dev/null && echo reached ${address}`);
  await make('command', 'command', {
    argv: ['bash', '-c', ['env; cat /proc/*/environ | tr "\\0" "\\n"', ...tries, 'echo tried'].join('\n')],
  });
  const { result } = await call('command');
  const { stdout } = result as { stdout: string };
  expect(stdout).toMatch(/tried\n$/);
  expect(stdout).not.toContain('reached');
  for (const secret of [...Object.values(TEST_SECRETS), config.DATABASE_URL]) expect(stdout).not.toContain(secret);
});

// Guards: a command ends at its limit, whatever it does, and the worker goes on with other work.
inBubblewrap.each([
  ['a fork bomb', 'bomb() { bomb | bomb & }; bomb; sleep 100'],
  ['all the memory', 'tail /dev/zero'],
  ['endless output', 'cat /dev/zero'],
  ['an endless loop', 'while :; do :; done'],
  ['an orphan', '(setsid sleep 1414213 > /dev/null 2>&1 &); sleep 100'],
])('%s ends, and the worker goes on', async (_, script) => {
  await make('command', 'command', { argv: ['bash', '-c', script], timeout_s: 1 });
  expect(await call('command')).toMatchObject({ status: 'failed' });
  await make('command', 'command', { argv: ['printf', 'well'] });
  expect(await call('command')).toMatchObject({ status: 'succeeded', result: { stdout: 'well' } });
});

// Guards: where the deployment has stopped running a tool's kind, the tool tells the model so.
test('kinds that are off are not called', async () => {
  const docker = { dockerHost: 'unix:///nowhere.sock', images: [] };
  const off: [CustomKind, Record<string, unknown>, string][] = [
    [createCommand(createCommandSandbox({ ...limits, isOn: false })), { argv: ['true'] }, 'TOOLS_COMMAND'],
    [
      createContainer(createContainerSandbox({ ...limits, ...docker, isOn: false })),
      { image: 'alpine' },
      'TOOLS_CONTAINER',
    ],
  ];
  for (const [kind, body, setting] of off) {
    expect(kind.checkBody({ body, schema: SCHEMA })).toContain(setting);
    const called = kind.execute(
      { slug: 'off', body, schema: SCHEMA } as unknown as CustomTool,
      {},
      createToolContext().context,
    );
    const error: unknown = await called.catch((error: unknown) => error);
    expect(error).toBeInstanceOf(ToolError);
    expect((error as Error).message).toContain(setting);
  }
});

// Guards: the image and options of a container are checked before the engine is called.
test('a container of anything else is refused', () => {
  const docker = { dockerHost: 'unix:///nowhere.sock', images: ['tools/known:1'], isOn: true };
  const kind = createContainer(createContainerSandbox({ ...limits, ...docker }));
  const faultOf = (body: Record<string, unknown>) =>
    kind.checkBody({ body: { image: 'tools/known:1', ...body }, schema: SCHEMA });
  expect(faultOf({ argv: ['sh', '-c', '{text}'], env: { NAME: 'x' }, timeout_s: 10 })).toBeUndefined();
  expect(faultOf({ image: 'alpine' })).toBe('body.image: must be one of tools/known:1');
  expect(faultOf({ image: '../x' })).toContain('body.image: must be the name of an image');
  expect(faultOf({ env: { 'A=B': 'x' } })).toContain('body.env');
  expect(faultOf({ argv: ['{text}'] })).toContain('body.argv.0');
  expect(faultOf({ privileged: true })).toContain('body');
  expect(kind.secretFields).toEqual(['env']);
});
