/** `aos workspaces` and `aos members` as an operator uses them: real processes against the real service. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { INTERNAL_WORKSPACE } from '../../src/platform/core/ids.ts';
import { jsonOf, runCli } from '../embedded/service-process.ts';
import {
  eventually,
  sessionFor,
  startTestService,
  TEST_SECRETS,
  type TestService,
} from '../support/service/service.ts';

let service: TestService;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-workspaces-'));
  service = await startTestService();
  await service.services.stores.workspaces.seedInternal('http://localhost:8080');
});
afterAll(async () => {
  await service?.close();
  await rm(folder, { recursive: true, force: true });
});

async function run(args: string[], env: Record<string, string> = {}) {
  const session = sessionFor({
    workspaceId: INTERNAL_WORKSPACE,
    customerId: 'internal',
    actor: 'owner@localhost',
  });
  return runCli(args, {
    DATA_DIR: folder,
    AOS_URL: service.baseUrl,
    AOS_SESSION: session,
    AOS_CONTROL_PLANE_URL: service.controlPlaneUrl,
    OPERATOR_TOKEN: TEST_SECRETS.OPERATOR_TOKEN,
    ...env,
  });
}
const aos = (...args: string[]) => run(['workspaces', ...args]);
const ok = (stdout: string) => ({ code: 0, stdout: `${stdout}\n`, stderr: '' });

// Guards: the life of a tenant, from its making to its archive, without a line of HTTP.
test('goes through the life of a workspace', async () => {
  expect(
    await aos('create', 'acc_shop', '--plan', 'pro_byo', '--config', '{"api_key":"canary","region":"eu"}'),
  ).toEqual(ok('acc_shop is pending; see how it goes with: aos workspaces show acc_shop'));
  await eventually(async () => {
    expect(await service.services.stores.workspaces.find('acc_shop')).toMatchObject({ status: 'ready' });
  });
  const shown = await aos('show', 'acc_shop');
  expect(shown.stdout).toMatch(
    /^workspace acc_shop\ncustomer {2}shop\nplan {6}pro_byo\nstatus {4}ready\nruntime {3}http/,
  );
  expect(shown.stdout).toContain('config\n  region: eu\n  api_key: ***\n');
  expect(await aos('set-state', 'acc_shop', 'failed', '--code', 'disk', '-m', 'The disk is\nfull')).toEqual(
    ok('acc_shop is failed (disk: The disk is full)'),
  );
  expect((await aos()).stdout).toMatch(
    /^ID +PLAN +STATUS +CREATED.*\n(.*\n)*acc_shop +pro_byo +failed .* disk: The disk/,
  );
  expect(await aos('retry', 'acc_shop')).toEqual(ok('acc_shop is pending'));
  await eventually(async () => {
    expect(await service.services.stores.workspaces.find('acc_shop')).toMatchObject({ status: 'ready' });
  });
  expect(await aos('delete', 'acc_shop', '--yes')).toEqual(ok('acc_shop is archived'));
  expect(jsonOf(await aos('list', '--json')).data).toEqual(
    expect.arrayContaining([expect.objectContaining({ identity_workspace_id: 'acc_shop', status: 'archived' })]),
  );
});

// Guards: a refusal is one line on stderr and exit code 1.
test.each([
  ['an unknown workspace', ['show', 'acc_nobody'], 'there is no such thing in your workspace'],
  [
    'the operator of all',
    ['delete', INTERNAL_WORKSPACE, '--yes'],
    'the workspace that operates the service cannot be taken down',
  ],
  ['a deletion by accident', ['delete', 'acc_shop'], 'add --yes'],
  ['a plan that is none', ['create', 'acc_x', '-p', 'gold'], 'body.plan'],
  ['a config that is none', ['create', 'acc_x', '-c', '{'], '--config must be JSON'],
  ['a state that is none', ['set-state', 'acc_shop', 'archived'], 'Allowed choices'],
  ['a state of nobody', ['set-state', 'acc_nobody', 'ready'], 'there is no such thing in your workspace'],
])('says what is wrong with %s', async (_, args, message) => {
  const { code, stdout, stderr } = await aos(...args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(message);
  expect(stderr).not.toMatch(/\n\s+at /);
});

// Guards: the operator's token decides, whatever the session may do.
test('set-state needs the operator token', async () => {
  const { code, stderr } = await run(['workspaces', 'set-state', 'acc_shop', 'ready'], {
    OPERATOR_TOKEN: 'another-token-of-nobody',
  });
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('the operator token does not count') });
});

// Guards: members of a tenant are managed without a line of HTTP.
test('goes through the life of a member', async () => {
  const members = (...args: string[]) => run(['members', ...args]);
  await aos('create', 'acc_team');
  expect(await members('add', 'acc_team', 'Ana@Example.com')).toEqual(ok('ana@example.com may sign in as member'));
  expect(await members('role', 'acc_team', 'ana@example.com', 'admin')).toEqual(ok('ana@example.com is admin'));
  const listed = await members('list', 'acc_team');
  expect(listed.stdout).toMatch(/^EMAIL.*\nana@example\.com +admin +- +owner@localhost\n$/);
  expect(await members('remove', 'acc_team', 'ana@example.com')).toEqual(ok('ana@example.com is no member any more'));
  expect(await members('remove', 'acc_team', 'ana@example.com')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('ana@example.com is no member of acc_team'),
  });
});
