/** `aos integrations` as a person uses it: real processes against the real service. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { itemAt, present } from '../../src/platform/core/present.ts';
import { runCli } from '../embedded/service-process.ts';
import { codeOf } from '../support/service/otp.ts';
import { startProviderServer, type ProviderServer } from '../support/fakes/provider-server.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../support/service/service.ts';

let service: TestService;
let provider: ProviderServer;
let tenant: Tenant;
let folder: string;

beforeAll(async () => {
  provider = await startProviderServer();
  folder = await mkdtemp(join(tmpdir(), 'aos-integrations-'));
  service = await startTestService({ env: { INTEGRATION_BASE_URLS: `github=${provider.url}` } });
  tenant = await service.tenant('acc_cli_integrations');
});
afterAll(async () => {
  await service?.close();
  await provider?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Runs it to its end, with this on standard input. */
async function aos(args: string[], input = '') {
  const env = { DATA_DIR: folder, AOS_URL: service.baseUrl, AOS_SESSION: tenant.session };
  return runCli(['integrations', ...args], env, input);
}
const ok = (stdout: unknown) => ({ code: 0, stdout, stderr: '' });

/** The same, twice: the second time with the code that was asked for. */
async function confirmed(args: string[], input = '') {
  const first = await aos(args, input);
  const [, challenge] = /--challenge=([\w-]+) --code=/.exec(first.stderr) ?? [];
  expect({ code: first.code, stdout: first.stdout }).toEqual({ code: 1, stdout: '' });
  return aos([...args, `--challenge=${challenge}`, `--code=${codeOf(present(challenge))}`], input);
}

// Guards: the way of a token: it is listed, set from standard input with a code, checked, shown and deleted, and its
// value is never printed.
test('sets, shows and deletes a token', async () => {
  expect(await aos([])).toEqual(ok(expect.stringMatching(/github +unconfigured +0\/2 +1 +code/)));
  const set = await confirmed(['set', 'github', 'token'], 'ghp_canary\n');
  expect(set).toEqual(ok('github token is set; the provider is being asked about it\n'));
  await eventually(async () => {
    expect((await tenant.cp('GET', '/v1/integrations/github')).body.status).toBe('ok');
  });
  expect((await aos(['show', 'github'])).stdout).toMatch(/token +shared +ok +\d{4}-/);
  expect(itemAt(provider.requests, 0).headers.authorization).toBe('Bearer ghp_canary');
  const all = await Promise.all([aos([]), aos(['show', 'github', '--json'])]);
  expect(all.map(({ code }) => code)).toEqual([0, 0]);
  expect(JSON.stringify(all)).not.toContain('canary');
  expect(await confirmed(['unset', 'github', 'token'])).toEqual(ok('github token is deleted\n'));
  expect((await tenant.cp('GET', '/v1/integrations/github')).body).toMatchObject({ is_configured: false });
});

// Guards: a secret is stored at its own address by the same command as a token.
test('sets and deletes a secret', async () => {
  expect(await confirmed(['set', 'smtp', 'server.host', '--json'], 'mail.example.com')).toEqual(
    ok(expect.stringContaining('"dotted": "server.host"')),
  );
  expect((await confirmed(['unset', 'smtp', 'server.host'])).stdout).toBe('smtp server.host is deleted\n');
});

// Guards: a mistake gives one line that says what exists instead.
test.each([
  [['set', 'github', 'nothing'], 'x', 'github has no slot nothing; it has token, mcp.url'],
  [['set', 'github', 'token'], ' \n', 'no value: give it on standard input'],
  [['set', 'smtp', 'server.port'], 'x', 'must be a port'],
  [['unset', 'github', 'token'], '', 'there is no such thing in your workspace'],
])('%j of "%s"', async (args, input, message) => {
  const { code, stdout, stderr } = await aos(args, input);
  expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining(message) });
  expect(stderr.trim().split('\n')).toHaveLength(1);
});
