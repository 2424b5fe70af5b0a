/** `--sample` on the command line: what it starts, and what it says when there is no such sample. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openSamples } from '../../src/resources/samples/library.ts';
import { SAMPLE_NOTE } from '../../src/resources/samples/model.ts';
import { jsonOf, runCli } from '../embedded/service-process.ts';
import { untilStep } from '../support/fixtures/projects.ts';
import { startTestService, type Tenant, type TestService } from '../support/service/service.ts';

const { workflows, prompts } = await openSamples();

let service: TestService;
let tenant: Tenant;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-samples-'));
  service = await startTestService();
  tenant = await service.tenant('acc_cli_samples');
});
afterAll(async () => {
  await service?.close();
  await rm(folder, { recursive: true, force: true });
});

const aos = (...args: string[]) =>
  runCli(args, {
    DATA_DIR: folder,
    AOS_URL: service.baseUrl,
    AOS_API_KEY: tenant.apiKey,
    AOS_SESSION: tenant.session,
  });

// Guards: one command starts the sample, and the project says that its content was recorded.
test('a project starts from the sample of its workflow', async () => {
  const { project_id: id } = jsonOf(await aos('project', 'start', 'blog-post', '--sample', '--json'));
  await untilStep(tenant, id, 'draft', 'approve', 'blocked');
  expect((await aos('project', 'show', id)).stdout).toContain(SAMPLE_NOTE);
});

// Guards: somebody who guesses a name is told what there is, and a script can tell it by the exit code.
test.each([
  ['a workflow', ['project', 'start', 'nothing', '--sample'], workflows.map(({ workflow }) => workflow)],
  ['an agent', ['run', 'coder', '--sample'], prompts.filter(({ is_part }) => !is_part).map(({ slug }) => slug)],
] as const)('%s without a sample: those that have one, exit code 2', async (_, args, names) => {
  const { code, stdout, stderr } = await aos(...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  for (const name of names) expect(stderr).toContain(`  ${name}`);
});

// Guards: a changed brief is no sample any more, and says so before anything is started.
test.each([
  ['--brief', 'Something else'],
  ['--param', 'tone=warm'],
])('a sample with its own %s is refused', async (...option) => {
  const { code, stderr } = await aos('project', 'start', 'blog-post', '--sample', ...option);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining('a changed brief is no sample any more'),
  });
});

// Guards: a run of a sample says so in the first lines of its timeline.
test('a run starts from the sample of its agent', async () => {
  const { code, stdout } = await aos('run', 'analyst', '--sample', '--follow');
  expect(code).toBe(0);
  expect(stdout).toContain(SAMPLE_NOTE);
  expect(stdout).toContain('After 40 weeks');
});
