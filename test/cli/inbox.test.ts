/** `aos inbox` as a person uses it: real processes against the real service. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { jsonOf, runCli, startCli } from '../embedded/service-process.ts';
import {
  agentStep,
  gateStep,
  makeTemplate,
  phaseSpec,
  startProject,
  untilProject,
} from '../support/fixtures/projects.ts';
import { answer, untilWait } from '../resources/inbox/waits.ts';
import { addMember } from '../resources/sign-in/people.ts';
import { eventually, sessionFor, startTestService, type Tenant, type TestService } from '../support/service/service.ts';

let service: TestService;
let tenant: Tenant;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-inbox-'));
  service = await startTestService();
  tenant = await service.tenant('acc_cli_inbox');
  const prompt = 'Is it\u001b[2J good?';
  await makeTemplate(tenant, 'asked', [
    phaseSpec('main', [agentStep('write'), gateStep('check', 'human', { prompt })]),
  ]);
});
afterAll(async () => {
  await service?.close();
  await rm(folder, { recursive: true, force: true });
});

const env = (session = tenant.session) => ({ DATA_DIR: folder, AOS_URL: service.baseUrl, AOS_SESSION: session });
const aos = (...args: string[]) => runCli(['inbox', ...args], env());

// Guards: the way from the list to the answer. An answer to another revision, and a second answer, are refused in
// words.
test('lists, shows and answers what waits', async () => {
  expect((await aos()).stdout).toBe('nothing waits\n');
  await startProject(tenant, 'asked');
  const { id, revision } = await untilWait(tenant, { kind: 'gate' });

  const listed = await aos();
  expect(listed.stdout).toMatch(new RegExp(`${id} +gate +${revision} +approve, reject .*main/check +Is it.* good`));
  expect(listed.stdout).not.toContain('\u001b');
  const shown = await aos('show', id);
  expect(shown.stdout).toContain(`aos inbox answer ${id} approve --revision ${revision}`);
  expect(shown.stdout).not.toContain('\u001b');
  expect(jsonOf(await aos('show', id, '--json'))).toMatchObject({ id, revision, status: 'open' });

  const stale = await aos('answer', id, 'approve', '--revision', String(revision + 1));
  expect(stale.stderr).toContain(`is now revision ${revision}; look at it before you answer:\n  aos inbox show ${id}`);
  const unseen = await aos('answer', id, 'approve');
  expect(unseen.stderr).toContain(`say which revision you saw: aos inbox answer ${id} approve --revision ${revision}`);
  const blind = await aos('answer', id, 'approve', '--comment', 'Lovely', '--yes');
  expect(blind.stdout).toMatch(/revision \d[^]*\napprove: Is it/);
  const second = await aos('answer', id, 'reject', '--revision', String(revision));
  expect(second.stderr).toMatch(/answered already: approve, by \S+, at [\d-]+ [\d:]+ UTC: Lovely/);
  expect((await aos('--settled')).stdout).toContain(`approve by `);
  expect((await aos('show', 'nope')).stderr).toContain('there is no wait nope; list them with: aos inbox');
});

// Guards: what stopped a project is told with who raises it; a raise that is refused, or too small, is so in words.
test('raises the limit that stopped a project', async () => {
  await makeTemplate(tenant, 'capped', [phaseSpec('main', [agentStep('write')])]);
  const capOf = async () => (await tenant.cp('GET', '/v1/cost/caps')).body.data;
  await tenant.cp('PUT', '/v1/cost/caps/workspace.month', { limit_usd: '0.000001' });
  const projectId = await startProject(tenant, 'capped', { cost_budget_usd: '2' });
  const { id, revision } = await untilWait(tenant, { project_id: projectId, kind: 'paused' });
  const ofMember = (...args: string[]) => runCli(['inbox', ...args], env(sessionFor(tenant.caller, 'member')));
  const raise = ['answer', id, 'raise_budget', '--revision', String(revision), '--by'];

  expect((await aos('show', id)).stdout).toMatch(
    /stops it +workspace\.month: .* needed; owners and admins raise it\n[^]*raise_budget [^]*added to the cap of the workspace a month.* It takes at least 0\.\d+\./,
  );
  expect((await ofMember('show', id)).stdout).toMatch(/refused: admin_required: the cap of the workspace a month/);
  const refused = await ofMember(...raise, '5');
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('owners and admins raise it') });
  expect((await aos(...raise, '0.00000001')).stderr).toMatch(/raise_by_usd must be at least 0\.\d+: the cap/);
  expect(await capOf()).toMatchObject([{ limit_usd: '0.000001' }]);
  expect((await aos(...raise, '5')).stdout).toContain('raise_budget: ');
  expect(await capOf()).toMatchObject([{ limit_usd: '5.000001' }]);
  await untilProject(tenant, projectId, 'completed');
  await tenant.cp('DELETE', '/v1/cost/caps/workspace.month');
});

// Guards: whoever asks others: a reminder, and a stand-in who is named until then; what is refused is said in words.
test('reminds and delegates', async () => {
  const { customerId, actor } = tenant.caller;
  await addMember(service, customerId, 'ben@acme.example', 'member');
  await makeTemplate(tenant, 'named', [
    phaseSpec('main', [agentStep('write'), gateStep('check', 'human', { approvers: { emails: [actor] } })]),
  ]);
  const projectId = await startProject(tenant, 'named');
  const { id } = await untilWait(tenant, { project_id: projectId });
  expect((await aos('remind', id)).stdout).toBe('reminded: check\n');
  expect(await aos('remind', id)).toMatchObject({ code: 1, stderr: expect.stringContaining('every ten minutes') });
  const until = '2099-01-01T00:00:00Z';
  expect((await aos('delegate', id, 'ben@acme.example', '--until', until)).stderr).toContain('at most a year');
  const soon = new Date(Date.now() + 3_600_000).toISOString();
  expect((await aos('delegate', id, 'eve@acme.example', '--until', soon)).stderr).toContain('is no member');
  expect((await aos('delegate', id, 'ben@acme.example', '--until', soon)).stdout).toContain(
    'UTC ben@acme.example answers in your place: check',
  );
  expect((await aos('show', id)).stdout).toContain(`ben@acme.example for ${actor}`);
  expect((await aos('remind', 'nope')).stderr).toContain('there is no wait nope');
});

// Guards: the list that goes on tells of what comes and of what goes, each once.
test('watches', async () => {
  const watching = startCli(['inbox', '--watch', '--kind', 'gate'], env());
  try {
    const wait = await untilWait(tenant, { project_id: await startProject(tenant, 'asked') });
    const line = (what: string) => new RegExp(`^${what} +${wait.id}`, 'gm');
    await eventually(async () => expect(watching.stdout().match(line('waits'))).toHaveLength(1));
    await answer(tenant, { id: wait.id, revision: wait.revision }, { answer: 'approve' });
    await eventually(async () => expect(watching.stdout().match(line('settled'))).toHaveLength(1));
    expect(watching.stdout().match(line('waits'))).toHaveLength(1);
  } finally {
    watching.child.kill();
    await watching.ended;
  }
  expect((await aos('--watch', '--json')).stderr).toContain('leave --json and --settled away');
});
