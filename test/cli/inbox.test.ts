/** `aos inbox` as a person uses it: real processes against the real service. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { runCli } from '../embedded/service-process.ts';
import { agentStep, gateStep, makeTemplate, phaseSpec, startProject } from '../support/fixtures/projects.ts';
import { untilWait } from '../resources/inbox/waits.ts';
import { startTestService, type Tenant, type TestService } from '../support/service/service.ts';

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

const aos = (...args: string[]) =>
  runCli(['inbox', ...args], { DATA_DIR: folder, AOS_URL: service.baseUrl, AOS_SESSION: tenant.session });

// Guards: the way from the list to the answer; an answer to another revision, and a second one, told in words.
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
  expect(JSON.parse((await aos('show', id, '--json')).stdout)).toMatchObject({ id, revision, status: 'open' });

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
