/**
 * The example for GitHub Actions, as far as it can be run without GitHub: its commands, in their order, in a shell like that of
 * a runner, against a started service. What GitHub itself does (checking out, installing, events) stands still.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { present } from '../../src/platform/core/present.ts';
import { startTestService, type Tenant, type TestService } from '../support/service/service.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const Step = z.strictObject({
  name: z.string().optional(),
  id: z.string().optional(),
  uses: z.string().optional(),
  with: z.record(z.string(), z.unknown()).optional(),
  if: z.string().optional(),
  run: z.string().optional(),
});
const Variables = z.record(z.string(), z.string());
const Workflow = z.object({
  env: Variables,
  jobs: z.record(z.string(), z.object({ env: Variables.default({}), steps: z.array(Step) })),
});

let service: TestService;
let tenant: Tenant;
let workflow: z.output<typeof Workflow>;
let checkout: string;
let context: Record<string, string>;

beforeAll(async () => {
  workflow = Workflow.parse(parse(await readFile(join(ROOT, 'deploy/github/agents.yml'), 'utf8')));
  service = await startTestService({ worker: false });
  tenant = await service.tenant('acc_github');
  checkout = await mkdtemp(join(tmpdir(), 'aos-github-'));
  // What the second checkout and the installation come to.
  await symlink(ROOT, join(checkout, '.aos'));
  const { body } = await tenant.cp('POST', '/v1/deploy-tokens', { name: 'github' });
  context = {
    'vars.AOS_URL': service.baseUrl,
    'secrets.AOS_DEPLOY_TOKEN': body.token,
    'secrets.TEAM_SLACK_HOOK': 'https://hooks.slack.com/services/T0/B0/part',
  };
});
afterAll(async () => {
  await service?.close();
  await rm(checkout, { recursive: true, force: true });
});

/** @returns a text with what GitHub puts in the place of its expressions. @throws Error for one that it does not know */
const filled = (text: string): string =>
  text.replaceAll(/\$\{\{ ([\w.]+) \}\}/g, (_, name: string) => present(context[name], `a value of ${name}`));

interface Ended {
  step: string;
  code: number;
  output: string;
}

/** Runs the steps of a job, up to the first that fails. */
async function runJob(name: string): Promise<Ended[]> {
  const job = present(workflow.jobs[name], `the job ${name}`);
  const ended: Ended[] = [];
  const outputs = join(checkout, 'outputs.txt');
  await writeFile(outputs, '');
  const env: Record<string, string> = {
    PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
    HOME: checkout,
    GITHUB_ACTIONS: 'true',
    GITHUB_SHA: '0123456789abcdef',
    GITHUB_OUTPUT: outputs,
    ...Object.fromEntries(Object.entries({ ...workflow.env, ...job.env }).map(([key, text]) => [key, filled(text)])),
  };
  for (const step of job.steps) {
    if (step.run === undefined || step.name === 'Install') continue;
    const said = await readFile(outputs, 'utf8');
    if (step.if !== undefined) {
      const [, id, key, wanted] = /^steps\.(\w+)\.outputs\.(\w+) == '(\w+)'$/.exec(step.if) ?? [];
      expect(job.steps.map((other) => other.id)).toContain(id);
      if (!said.split('\n').includes(`${key}=${wanted}`)) continue;
    }
    const result = await shell(filled(step.run), env);
    ended.push({ step: step.name ?? '', ...result });
    if (result.code !== 0) break;
  }
  return ended;
}

/** As a runner does: bash that stops at the first command that fails. */
const shell = (script: string, env: Record<string, string>) =>
  new Promise<Omit<Ended, 'step'>>((resolve) => {
    execFile('bash', ['-e', '-c', script], { cwd: checkout, env }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, output: stdout + stderr }),
    );
  });

async function file(name: string, text: string): Promise<void> {
  await mkdir(dirname(join(checkout, name)), { recursive: true });
  await writeFile(join(checkout, name), text);
}

// Guards: the example works as it stands: a pull request is told what would change, a push changes it, another push does nothing.
test('plans for a pull request, and applies what is pushed', async () => {
  await file('config/agents/scribe.yaml', 'slug: scribe\nprompt: You write.\n');
  await file(
    'config/destinations/team.yaml',
    'name: Team\nkind: slack\nconfig: { webhook_url: { env: TEAM_SLACK_HOOK } }\nwaits: true\n',
  );
  // A pull request has no secrets of the deployment: what needs one that the workspace has not yet is told.
  const [early] = await runJob('plan');
  expect(early).toMatchObject({ step: 'Plan', code: 1 });
  expect(early?.output).toContain('::error file=config/destinations/team.yaml,line=3::');

  const pushed = await runJob('apply');
  expect(pushed.map(({ step, code }) => [step, code])).toEqual([
    ['Plan', 0],
    ['Apply', 0],
    ['What is deployed', 0],
  ]);
  expect(pushed[1]?.output).toContain('applied: 2 changes');
  expect(JSON.stringify(pushed)).not.toContain('services/T0');
  const { body } = await tenant.cp('GET', '/v1/manifests/deployed');
  expect(body.data).toMatchObject([
    { kind: 'agent', name: 'scribe', file: 'agents/scribe.yaml', revision: '0123456789abcdef', state: 'as_applied' },
    { kind: 'destination', name: 'Team', state: 'as_applied' },
  ]);
  expect((await runJob('apply')).map(({ step }) => step)).toEqual(['Plan', 'What is deployed']);

  await file('config/agents/scribe.yaml', 'slug: scribe\nprompt: You write well.\n');
  const [proposed] = await runJob('plan');
  expect(proposed).toMatchObject({ code: 0 });
  expect(proposed?.output).toContain('prompt: "You write." -> "You write well."');
});

// Guards: a file that is wrong ends the job before anything is applied, and is marked at its line.
test('stops at a faulty file', async () => {
  await file('config/agents/broken.yaml', 'slug: broken\npromt: You are not.\n');
  const ended = await runJob('apply');
  expect(ended.map(({ step, code }) => [step, code])).toEqual([['Plan', 1]]);
  expect(ended[0]?.output).toContain('::error file=config/agents/broken.yaml,line=2::promt: Unknown field');
  expect((await tenant.cp('GET', '/v1/agents/broken/detail')).status).toBe(404);
});
