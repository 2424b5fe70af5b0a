/** `aos costs`, `aos flags` and `aos system` as a person uses them: real processes against the real service. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { jsonOf, runCli } from '../embedded/service-process.ts';
import { startTestService, type Tenant, type TestService } from '../support/service/service.ts';

let service: TestService;
let operator: Tenant;
let tenant: Tenant;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-operations-'));
  service = await startTestService();
  operator = await service.tenant('acc_internal', 'internal');
  tenant = await service.tenant('acc_cli_operations');
});
afterAll(async () => {
  await service?.close();
  await rm(folder, { recursive: true, force: true });
});

async function as({ session }: Tenant, ...args: string[]) {
  return runCli(args, {
    DATA_DIR: folder,
    AOS_URL: service.baseUrl,
    AOS_SESSION: session,
  });
}
const ok = (stdout: string | RegExp) => ({ code: 0, stdout: expect.stringMatching(stdout), stderr: '' });

// Guards: costs are grouped by any of the keys and shown with their total.
test('shows costs', async () => {
  expect(await as(tenant, 'costs')).toEqual(ok('no runs within 7d\n'));
  await tenant.run({ agent: 'writer', prompt: 'Cost something.' });
  expect(await as(tenant, 'costs')).toEqual(
    ok(/^AGENT +USD +SAVED +RUNS [^]*\nwriter +0\.\d+ +0 +1 +\d+ +\d+\n\n0\.\d+ USD for 1 runs/),
  );
  const { stdout } = await as(tenant, 'costs', '-w', '24h', '--by', 'day', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ data: [{ run_count: 1 }], meta: { group_by: 'day', window: '24h' } });
});

// Guards: a cap is set, shown with what is spent of it, and taken away; a name that is none says what would be one.
test('caps what is spent', async () => {
  expect(await as(tenant, 'costs', 'caps')).toEqual(
    ok(/^no caps; set one with: aos costs cap workspace\.month 100\n$/),
  );
  expect(await as(tenant, 'costs', 'cap', 'workspace.month', '25')).toEqual(
    ok(/^workspace\.month: 0[.\d]* of 25 USD spent, until \d{4}-\d\d-01T00:00:00/),
  );
  expect(await as(tenant, 'costs', 'caps')).toEqual(
    ok(/^CAP +SPENT +OF USD +% +TELLS AT % +UNTIL *\nworkspace\.month +0[.\d]* +25 +0 +50,80,100 /),
  );
  const { stdout } = await as(tenant, 'costs', 'caps', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ data: [{ id: 'workspace.month', limit_usd: '25' }] });
  expect(await as(tenant, 'costs', 'cap', 'agent.nobody.day', '1')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('error: there is no agent nobody'),
  });
  expect(await as(tenant, 'costs', 'forecast')).toEqual(
    ok(/^\d{4}-\d\d: \$[\d.]+ spent\nno forecast: it takes 7 whole days, and there are 0\n$/),
  );
  expect(await as(tenant, 'costs', 'cap', 'agent.writer.day', '2', '--alert', '80,100', '--json')).toEqual(
    ok(/"alert_at": \[\s+80,\s+100\s+\]/),
  );
  await as(tenant, 'costs', 'cap', 'agent.writer.day', 'none');
  expect(await as(tenant, 'costs', 'cap', 'workspace', '1')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('agent.writer.month'),
  });
  expect(await as(tenant, 'costs', 'cap', 'workspace.month', 'none')).toEqual(ok('workspace.month is taken away\n'));
});

// Guards: the operator switches flags; a tenant reads what holds for it, and is refused anything else in one line.
test('switches flags', async () => {
  const set = await as(operator, 'flags', 'set', 'new-board', 'off', '-d', 'Board', '--on', 'cli-operations');
  expect(set).toEqual(ok('new-board is off; exceptions: cli-operations: on\n'));
  expect(await as(tenant, 'flags')).toEqual(ok(/\nnew-board +on +- .*Board\n$/));
  expect(await as(operator, 'flags')).toEqual(ok(/\nnew-board +off +cli-operations: on /));
  expect(await as(tenant, 'flags', 'set', 'new-board', 'on')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('only the workspace that operates the service may do this'),
  });
  expect(await as(operator, 'flags', 'delete', 'new-board')).toEqual(ok('new-board is removed\n'));
  expect(await as(tenant, 'flags')).toEqual(ok('no flags\n'));
});

// Guards: health is printed for people and programs, with an exit code for scripts; information and reload are printed
// as JSON.
test('shows the system', async () => {
  const shown = await as(tenant, 'system');
  expect(shown).toEqual(ok(/^ok +postgres +\d+ ms\n/));
  expect(jsonOf(await as(tenant, 'system', 'health', '--json')).status).toBe('ok');
  expect(jsonOf(await as(tenant, 'system', 'info', '--json'))).toMatchObject({ plan: { tier: 'pro' } });
  expect(jsonOf(await as(operator, 'system', 'reload', '--json')).reloaded).toEqual([]);
});
