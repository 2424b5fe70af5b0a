/** `aos tools` as a person uses it: real processes against the real service. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { jsonOf, runCli } from '../embedded/service-process.ts';
import { tool as callOf } from '../support/fixtures/runs.ts';
import { startTestService, type Tenant, type TestService } from '../support/service/service.ts';

let service: TestService;
let tenant: Tenant;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-tools-'));
  service = await startTestService();
  tenant = await service.tenant('acc_cli_tools');
});
afterAll(async () => {
  await service?.close();
  await rm(folder, { recursive: true, force: true });
});

async function aos(...args: string[]) {
  return runCli(['tools', ...args], {
    DATA_DIR: folder,
    AOS_URL: service.baseUrl,
    AOS_SESSION: tenant.session,
  });
}
const ok = (stdout: unknown) => ({ code: 0, stdout, stderr: '' });
const failed = (stderr: string) => ({ code: 1, stdout: '', stderr: expect.stringContaining(stderr) });
const shown = async (slug: string) => (await tenant.cp('GET', `/v1/tools/${slug}`)).body;

// Guards: the list and the detail of tools are printed for people and for programs.
test('lists and shows', async () => {
  const { stdout } = await aos();
  expect(stdout).toMatch(/^SLUG +CATEGORY +KIND +ARGUMENTS +USED BY +DESCRIPTION\n/);
  expect(stdout).toMatch(/\ncalculator +general +built-in +expression +\d+ +\S/);
  expect(jsonOf(await aos('list', '--json')).meta.custom).toBe(0);
  expect(await aos('show', 'calculator')).toEqual(
    ok(expect.stringMatching(/^calculator\n[^]*\nexpression +\w+ +yes[^]*none\n$/)),
  );
  expect(await aos('show', 'nothing')).toEqual(failed('there is no such thing in your workspace'));
});

// Guards: a webhook tool is made by options. An edit keeps what it does not name, including secrets that were masked.
test('makes and changes a webhook', async () => {
  const url = 'https://api.example.com/weather?q={city}';
  const made = await aos(
    ...[
      'add',
      'weather',
      '-d',
      'Weather of a city.',
      '--url',
      url,
      '--method',
      'GET',
      '-p',
      'city',
      '-p',
      'days?:integer',
    ],
    ...['--header', 'X-Api-Key: canary', '--timeout', '5'],
  );
  expect(made).toEqual(ok('weather is made; an agent with it in its allowed tools can use it now\n'));
  const before = await shown('weather');
  expect(before).toMatchObject({
    kind: 'webhook',
    effect: 'read',
    body: { url, method: 'GET', timeout_s: 5, headers: { 'X-Api-Key': '***' } },
    schema: {
      type: 'object',
      required: ['city'],
      properties: { city: { type: 'string' }, days: { type: 'integer' } },
    },
  });
  expect(await aos('edit', 'weather', '--header', 'Accept: text/plain')).toEqual(
    ok('weather is changed; it is version 2\n'),
  );
  expect(await shown('weather')).toMatchObject({
    body: { ...before.body, headers: { 'X-Api-Key': '***', Accept: 'text/plain' } },
  });
  expect(await aos('edit', 'weather', '-d', 'The weather.', '--access', 'human')).toMatchObject({ code: 0 });
  expect(await shown('weather')).toMatchObject({ description: 'The weather.', access: 'human', version: '3' });
  const { stdout } = await aos('show', 'weather');
  expect(stdout).toContain('webhook, version 3');
  expect(stdout).not.toContain('canary');
});

// Guards: a whole tool is read from a file, which options override; it is shown with its calls, and deleted.
test('makes one of a file, and deletes it', async () => {
  const file = join(folder, 'tool.json');
  const tool = {
    slug: 'greet',
    description: 'Greets.',
    kind: 'stub',
    schema: { type: 'object' },
    body: { result: 'Hi' },
  };
  await writeFile(file, JSON.stringify(tool));
  expect(await aos('add', '--file', file, '-d', 'Greets people.')).toMatchObject({ code: 0 });
  expect(await shown('greet')).toMatchObject({ description: 'Greets people.', body: { result: 'Hi' } });
  await tenant.cp('POST', '/v1/agents', {
    slug: 'greeter',
    model: 'offline',
    prompt: 'You greet.',
    allowed_tool_slugs: ['greet'],
  });
  const { run_id } = await tenant.run({ agent: 'greeter', prompt: callOf('greet', { name: 'Ada' }) });
  expect(await aos('show', 'greet')).toEqual(ok(expect.stringMatching(new RegExp(`${run_id} +greeter +name=Ada`))));
  expect(await aos('delete', 'greet')).toEqual(failed('used by the agent greeter'));
  expect(await aos('delete', 'greet', '--force')).toEqual(ok('greet is deleted\n'));
  expect(await aos('delete', 'greet')).toEqual(failed('there is no such thing'));
});

// Guards: an impossible request gives one line that says why.
test.each([
  [['add', 'x', '--url', 'https://example.com/', '--script', 'x.js'], 'give one of --url, --script and --html'],
  [['add', 'x', '--script', 'nowhere.js'], 'cannot read nowhere.js'],
  [['add', 'x', '--body', '[]'], '--body: is not a JSON object'],
  [['add', 'x', '--schema', '{'], '--schema: is not a JSON object'],
  [['add', 'x', '--param', 'a b'], '--param: a b is not name'],
  [['add', 'x', '--header', 'none'], '--header: none is not'],
  [['add', 'x', '-d', 'X.', '--url', 'https://example.com/{y}'], '{y} is not a property of the schema'],
  [['add', 'x', '--kind', 'magic'], 'Allowed choices are'],
  [['edit', 'calculator', '-d', 'Mine.'], 'calculator is built in'],
  [['add', 'calculator', '-d', 'Mine.', '--body', '{"result":1}', '-k', 'stub'], 'the name is taken'],
])('%j fails', async (args, message) => {
  expect(await aos(...args)).toEqual(failed(message));
});
