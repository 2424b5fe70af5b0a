/** `aos jobs` as a person uses it: real processes against the real service, told apart by output and exit code. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { jsonOf, runCli } from '../embedded/service-process.ts';
import { startTestService, type Tenant, type TestService } from '../support/service/service.ts';

let service: TestService;
let tenant: Tenant;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-jobs-'));
  service = await startTestService({ worker: false });
  tenant = await service.tenant('acc_cli_jobs');
});
afterAll(async () => {
  await service?.close();
  await rm(folder, { recursive: true, force: true });
});

/**
 * The Temporal server is that of all tests, and may not find time for a schedule within the four seconds of a route. Such a
 * command has changed nothing and says so, and a person gives it again.
 */
async function aos(...args: string[]) {
  const env = { DATA_DIR: folder, AOS_URL: service.baseUrl, AOS_SESSION: tenant.session };
  for (let left = 3; ; left--) {
    const outcome = await runCli(['jobs', ...args], env);
    if (left === 0 || !outcome.stderr.includes('runtime_unreachable')) return outcome;
  }
}
const listed = async (id: string) => {
  const { body } = await tenant.cp('GET', '/v1/scheduled-jobs');
  return body.data.find((row: { id: string }) => row.id === id);
};

let id: string;
// Guards: a job can be made of a file and changed field by field, without a line of HTTP.
test('makes a job and changes it', async () => {
  const brief = join(folder, 'brief.md');
  await writeFile(brief, 'Sum up the news.');
  const options = ['--file', brief, '--model', 'offline', '--reasoning', 'on', '--disabled'];
  const made = await aos('create', 'News', '0 6 * * 1-5', 'writer', ...options);
  expect(made).toMatchObject({ code: 0, stderr: '' });
  [, id] = /^(custom-\d+): writer runs at 0 6 \* \* 1-5 UTC once it is enabled\n$/.exec(made.stdout) as unknown as [
    string,
    string,
  ];
  expect(await listed(id)).toMatchObject({
    name: 'News',
    brief: 'Sum up the news.',
    agent: 'writer',
    enabled: false,
    model: 'offline',
    reasoning: true,
  });

  expect((await aos('enable', id)).stdout).toMatch(
    new RegExp(`^${id} runs next at \\d{4}-\\d\\d-\\d\\d 06:00:00 UTC\n$`),
  );
  await aos('change', id, '--cron', '15 7 * * *', '--reasoning', 'auto', '--name', 'Old news');
  expect(await listed(id)).toMatchObject({
    name: 'Old news',
    schedule: '15 7 * * *',
    reasoning: null,
    model: 'offline',
    brief: 'Sum up the news.',
  });
  expect(await aos('disable', id)).toEqual({ code: 0, stdout: `${id} is disabled\n`, stderr: '' });
});

// Guards: files can be added to a job, listed and deleted.
test('shows a job and deletes it', async () => {
  const attached = await aos('attach', id, join(folder, 'brief.md'));
  expect(attached).toEqual({ code: 0, stdout: 'brief.md: text of 16 characters\n', stderr: '' });
  expect((await tenant.cp('GET', `/v1/scheduled-jobs/${id}/attachments`)).body.meta.total).toBe(1);

  const { stdout } = await aos();
  expect(stdout).toMatch(/^ID +KIND +AGENT +WHEN \(UTC\) +ENABLED +NEXT \(UTC\) +FOR\n/);
  expect(stdout).toMatch(new RegExp(`\n${id} +custom +writer +15 7 \\* \\* \\* +no +- +Old news\n`));
  expect(stdout).toMatch(/\nintegration-health +system +- +every day at 03:00 UTC +yes +\d{4}-/);

  expect(await aos('delete', id)).toEqual({ code: 0, stdout: `${id} is deleted\n`, stderr: '' });
  expect(await listed(id)).toBeUndefined();
});

// Guards: built-in jobs are switched on and off by the same commands.
test('times a job that ships', async () => {
  expect((await aos('change', 'daily-digest', '--cron', '0 8 * * *')).stdout).toBe('daily-digest is disabled\n');
  expect(jsonOf(await aos('enable', 'daily-digest', '--json'))).toMatchObject({ enabled: true, schedule: '0 8 * * *' });
});

// Guards: a refusal of the service is one line on stderr and exit code 1.
test.each([
  ['an unknown job', ['enable', 'nothing'], 'there is no such thing in your workspace'],
  ['a bad expression', ['create', 'a', '@daily', 'writer', '--brief', 'b'], 'cron: must be five fields'],
  ['a job without a brief', ['create', 'a', '0 6 * * *', 'writer'], 'brief required'],
  ['a change of nothing', ['change', 'daily-digest'], 'provide at least one of'],
  ['a job that ships', ['delete', 'daily-digest'], 'cannot be deleted'],
  ['a file that is not there', ['attach', 'custom-1', '/nowhere/a.md'], 'cannot read /nowhere/a.md'],
  ['two briefs', ['change', 'custom-1', '--file', '-', '--brief', 'b'], 'give --brief or --file, not both'],
])('says what is wrong with %s', async (_, args, message) => {
  const { code, stdout, stderr } = await aos(...args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(message);
  expect(stderr).not.toMatch(/\n\s+at /);
});
