/** What a call of unknown price cost is never printed as nothing. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import { runHere } from '../support/cli/here.ts';
import { answer, callTools, startOpenAiServer, type OpenAiServer } from '../support/fakes/openai-server.ts';
import { agentStep, attemptsOf, makeTemplate, phaseSpec, projectOf, stepOf } from '../support/fixtures/projects.ts';
import { startTestService, type Tenant, type TestService } from '../support/service/service.ts';

let service: TestService;
let provider: OpenAiServer;
let tenant: Tenant;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-unpriced-'));
  provider = await startOpenAiServer();
  service = await startTestService({
    env: { OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl, OPENAI_COMPATIBLE_MODEL: 'scripted' },
  });
  tenant = await service.tenant('acc_unpriced');
});
afterAll(async () => {
  await service?.close();
  await provider?.close();
  await rm(folder, { recursive: true, force: true });
});

async function printed(...args: string[]): Promise<string> {
  const env = { DATA_DIR: folder, AOS_URL: service.baseUrl, AOS_SESSION: tenant.session, AOS_API_KEY: tenant.apiKey };
  const { code, stdout, stderr } = await runHere(args, { ...process.env, ...env });
  expect([args, code, stderr]).toEqual([args, 0, '']);
  return stdout;
}

function expectUnpriced(outputs: readonly string[]): void {
  for (const output of outputs) {
    expect(output).toMatch(/unpriced|at least/);
    expect(output).not.toMatch(/\$0(?![.\d])/);
  }
}

// Guards against: a run whose price nobody knows, shown as one that cost nothing.
test('runs and costs', async () => {
  provider.reset();
  provider.script(answer('Done.'));
  const followed = await printed('run', 'assistant', 'Something.', '--follow', '--model', 'scripted');
  const [, id = ''] = /^run +(\S+)$/m.exec(followed) ?? [];
  expectUnpriced([
    followed,
    await printed('runs'),
    await printed('runs', '--status', 'succeeded'),
    await printed('runs', 'show', id),
    await printed('costs'),
    await printed('costs', '--by', 'model'),
    await printed('costs', 'forecast'),
  ]);
});

// Guards against: a project of such runs, or of runs that spawned such ones, shown as one that cost nothing.
test('projects', async () => {
  provider.reset();
  await makeTemplate(tenant, 'unpriced', [phaseSpec('main', [agentStep('write', { tools: ['spawn_run'] })])]);
  provider.script(
    callTools({ id: '1', name: 'spawn_run', arguments: { agent: 'assistant', prompt: 'Salt.', wait: true } }),
    answer('Salt.'),
    answer('Done.'),
  );
  const watched = await printed('project', 'start', 'unpriced', '--brief', 'Something.', '--watch');
  const [, id = ''] = /^(\S+) started$/m.exec(watched) ?? [];
  const shown = async () => {
    const step = await stepOf(tenant, id, 'main', 'write');
    const [task] = (await tenant.cp('GET', `/v1/projects/${id}/tasks`)).body.data;
    const [attempt] = await attemptsOf(tenant, id, step.id);
    const status = (await tenant.api('GET', `/v1/projects/${id}`)).body;
    return [await projectOf(tenant, id), status, task, step, attempt].map((one) => Boolean(one.is_priced));
  };
  expect(await shown()).toEqual([false, false, false, false, false]);
  expectUnpriced([watched, await printed('project', 'list'), await printed('project', 'show', id)]);
  // Only the run that was spawned is unpriced.
  const { db } = service.runtime;
  await db.rows(sql`update runs set is_priced = true where parent_run_id is null`);
  expect(await shown()).toEqual([false, false, false, false, false]);
  await db.rows(sql`update runs set is_priced = true`);
  expect(await shown()).toEqual([true, true, true, true, true]);
});
