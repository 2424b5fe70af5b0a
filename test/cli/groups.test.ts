/** The groups of commands for what a workspace has, as a person uses them: real processes against the real service. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { completionOf } from '../../src/cli/completion.ts';
import { parseTime } from '../../src/cli/filters.ts';
import { createProgram } from '../../src/cli/program.ts';
import { runCli } from '../embedded/service-process.ts';
import { agentStep, phaseSpec } from '../support/fixtures/projects.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/fakes/webhook-receiver.ts';
import { startTestService, type Tenant, type TestService } from '../support/service/service.ts';

let service: TestService;
let receiver: WebhookReceiver;
let tenant: Tenant;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-groups-'));
  receiver = await startWebhookReceiver(() => 200);
  service = await startTestService({ env: { WEBHOOK_ALLOW_HTTP: 'true', EGRESS_ALLOWLIST: receiver.hostAndPort } });
  tenant = await service.tenant('acc_cli_groups');
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
  await rm(folder, { recursive: true, force: true });
});

const run = (...args: string[]) =>
  runCli(args, { DATA_DIR: folder, AOS_URL: service.baseUrl, AOS_SESSION: tenant.session, AOS_API_KEY: tenant.apiKey });
/** @returns what it printed, having succeeded */
async function aos(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(...args);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  return stdout;
}
async function file(name: string, content: unknown): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, JSON.stringify(content));
  return path;
}

// Guards: an agent is made, shown, changed and deleted; a wide list has more columns, and --json is the answer of the API.
test('agents', async () => {
  expect(await aos('agents', 'create', 'proofer', '--prompt', 'You edit.', '--tools', 'load_skill')).toContain(
    'proofer is made',
  );
  expect(await aos('agents', 'show', 'proofer')).toMatch(/^proofer.*\nmodel .*\ntools {2}load_skill\n\nYou edit\.\n$/);
  await aos('agents', 'update', 'proofer', '--description', 'For edits');
  expect(await aos('agents')).toMatch(/\nproofer +\S+ +1 +workspace +For edits\n/);
  expect(await aos('agents', '-o', 'wide')).toMatch(/^SLUG .*TOOL NAMES.*\n/);
  expect(JSON.parse(await aos('agents', '--json')).data.length).toBeGreaterThan(3);
  const misspelt = await run('agents', 'edit', 'proofer', '--tools', 'load_skil');
  expect(misspelt).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^warning: allowed_tools\[0\]: .*"load_skill"/),
  });
  const unserved = await run('agents', 'model', 'writer', 'claude-opus-4-5');
  expect(unserved).toEqual({
    code: 0,
    stdout: 'writer is set to claude-opus-4-5\n',
    stderr: expect.stringMatching(/^warning: default_model: .*ANTHROPIC_API_KEY.* runs use offline\.\n$/),
  });
  expect(await aos('agents', 'model', 'writer', 'none')).toBe('writer works with its own model again\n');
  await aos('skills', 'add', 'proofing', 'Proofing', '--agents', 'proofer');
  expect(await run('agents', 'delete', 'proofer')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/error: the agent proofer is used by the skill proofing; `force` deletes it/),
  });
  await aos('agents', 'delete', 'proofer', '--force');
  await aos('skills', 'delete', 'proofing');
  expect(await run('agents', 'show', 'proofer')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^error: there is no such thing/),
  });
});

// Guards: a workflow is made from a file, listed with its versions, and archived.
test('workflows', async () => {
  const phases = [
    phaseSpec('one', [agentStep('write')]),
    phaseSpec('two', [agentStep('write')], { depends_on: ['one'] }),
  ];
  const spec = await file('spec.json', { slug: 'report', title: 'Report', version: 1, phases });
  expect(await aos('workflows', 'create', spec)).toContain('report version 1 is made');
  expect(await aos('workflows', 'show', 'report')).toMatch(/\n {2}one\n {2}two {2}after one\n$/);
  expect(await aos('workflows', 'versions', 'report')).toMatch(/\n +1 +active +2\d{3}-/);
  expect(await aos('workflows')).toMatch(/\nblog-post .*built in/);
  await aos('workflows', 'delete', 'report');
  expect(await aos('workflows')).not.toContain('report ');
});

// Guards: a webhook is made with its secret, told of a run, and its deliveries are listed by status; and so with outputs.
test('webhooks and outputs', async () => {
  expect(await aos('webhooks', 'create', receiver.url, '--events', 'run.succeeded')).toMatch(
    /its secret, shown once: \S+\n$/,
  );
  const [{ id }] = JSON.parse(await aos('webhooks', '--json')).data;
  expect(await aos('webhooks')).toMatch(/\n +\d+ +active +run\.succeeded +http/);
  expect(await aos('webhooks', 'deliveries', '--status', 'dropped')).toBe('nothing was posted\n');
  expect(await aos('webhooks', 'rotate', String(id))).toContain('shown once');
  await aos('webhooks', 'delete', String(id));
  const destination = await file('team.json', {
    name: 'team',
    kind: 'webhook',
    config: { url: receiver.url },
    spending: true,
  });
  const made = JSON.parse(await aos('outputs', 'create', destination, '--json'));
  expect(await aos('outputs', 'disable', made.id)).toBe('team is off, and hears of artifacts,spending\n');
  expect(await aos('outputs')).toMatch(/\n\S+ +team +webhook +off +artifacts,spending\n$/);
  expect(await aos('outputs', 'deliveries')).toBe('nothing was sent\n');
  await aos('outputs', 'delete', made.id);
  expect(
    await run('outputs', 'create', await file('broken.json', undefined).catch(() => join(folder, 'nowhere.json'))),
  ).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^error: /),
  });
});

// Guards: a conversation is begun, answered and shown.
test('chat', async () => {
  const { id } = JSON.parse(await aos('chat', 'create', '--agent', 'assistant', '--title', 'Notes', '--json'));
  expect((await aos('chat', 'say', id, 'Hello there')).trim()).not.toBe('');
  expect(await aos('chat', 'show', id)).toMatch(/^you {2}Hello there\nassistant {2}\S/);
  const reads = '[[tool:read_attachment {"filename":"kites.csv"}]]';
  expect(await run('chat', 'say', id, reads, '--file', await file('kites.csv', 'Kites fly'))).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Kites fly'),
    stderr: 'kites.csv: table (CSV) of 11 characters\n',
  });
  expect(await aos('chat', 'update', id, 'Other')).toBe(`${id} is called Other\n`);
  expect(await aos('chat')).toMatch(/\n\S+ +assistant +.* Other\n$/);
});

// Guards: who changed what is listed by action and time.
test('audit', async () => {
  expect(await aos('audit', '--action', 'agents.create', '--from', '1h')).toMatch(/\S+ +agents\.create +201 /);
  expect(await aos('audit', '--action', 'agents.create', '--actor', 'nobody@example.com')).toBe(
    'nothing was changed\n',
  );
});

// Guards: runs are narrowed down by status, text and time, each of which something does not pass.
test('filters of runs', async () => {
  const { run_id: done } = await tenant.run({ agent: 'writer', prompt: 'A lemon.' });
  const { run_id: failed } = await tenant.run({ agent: 'writer', prompt: 'A pear. [[fail-status:400]]' });
  const ids = async (...args: string[]) =>
    JSON.parse(await aos('runs', '--json', '--agent', 'writer', ...args)).data.map(
      (row: { run_id: string }) => row.run_id,
    );
  expect(await ids()).toEqual([failed, done]);
  expect(await ids('--status', 'failed')).toEqual([failed]);
  expect(await ids('--q', 'lemon')).toEqual([done]);
  expect(await ids('--from', '1h')).toEqual([failed, done]);
  expect(await ids('--to', '1h')).toEqual([]);
  expect(await ids('--transport', 'cron')).toEqual([]);
  expect(await ids('--transport', 'rest', '--status', 'failed')).toEqual([failed]);
  expect(await ids('--min-cost', '1000')).toEqual([]);
  expect(await aos('runs', '--status', 'failed')).toMatch(/^RUN +AGENT +STATUS .*\n\S+ +writer +failed /);
});

// Guards: projects are narrowed down by status, workflow, words and time.
test('filters of projects', async () => {
  const spec = await file('lists.json', {
    slug: 'lists',
    title: 'Lists',
    version: 1,
    phases: [phaseSpec('one', [agentStep('write')])],
  });
  await aos('workflows', 'create', spec);
  const start = async (brief: string) =>
    JSON.parse(await aos('project', 'start', 'lists', '--brief', brief, '--json')).project_id;
  const [lemon, pear] = [await start('Lemons'), await start('Pears')];
  const ids = async (...args: string[]) =>
    JSON.parse(await aos('project', 'list', '--json', ...args)).data.map((row: { id: string }) => row.id);
  expect(await ids('--workflow', 'lists')).toEqual([pear, lemon]);
  expect(await ids('--q', 'lemon')).toEqual([lemon]);
  expect(await ids('--from', '1h', '--workflow', 'lists')).toEqual([pear, lemon]);
  expect(await ids('--to', '1h')).toEqual([]);
  expect(await aos('project', '--q', 'kumquat')).toBe('no such projects\n');
  expect(await aos('project', '-o', 'wide')).toMatch(/^PROJECT .* PAUSED FOR .* TITLE/);
});

// Guards: errors of every kind have one shape, on standard error.
test.each([
  [['runs', '--status', 'nothing']],
  [['runs', '--from', 'yesterday-ish']],
  [['nothing']],
  [['agents', 'show']],
  [['webhooks', 'delete', '999999']],
])('%j is refused', async (args) => {
  const { code, stdout, stderr } = await run(...args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^error: \S/);
});

// Guards: the script of a shell is one that the shell reads, and it knows each command with its options and their values.
test('completion', async () => {
  const script = completionOf(createProgram(), 'bash');
  const path = join(folder, 'completion.bash');
  const asked = ['aos ', 'aos project ', 'aos runs list --sta', 'aos runs list --status '];
  const ask = (line: string) =>
    `COMP_WORDS=(${line.replace(/ $/, " ''")}); COMP_CWORD=$((\${#COMP_WORDS[@]}-1)); _aos; echo "\${COMPREPLY[*]}"`;
  await writeFile(path, [script, ...asked.map(ask)].join('\n'));
  const { stdout } = await promisify(execFile)('bash', [path]);
  const [top, project, options, values] = stdout.split('\n');
  expect(top).toMatch(/\bagents\b.*\bsearch\b.*\bcompletion\b/);
  expect(project).toMatch(/^start list show .*approve/);
  expect(options).toBe('--status');
  expect(values).toBe('queued running succeeded failed cancelled');
  expect(completionOf(createProgram(), 'zsh')).toContain('bashcompinit');
  expect(completionOf(createProgram(), 'fish')).toMatch(
    /\ncomplete -c aos -f -n '__fish_seen_subcommand_from project; and not [^\n]* -a start -d /,
  );
});

// Guards: times are those that people write.
test('times', () => {
  expect(parseTime('2026-11-25')).toBe('2026-11-25T00:00:00.000Z');
  expect(parseTime('2026-11-25 08:30')).toBe('2026-11-25T08:30:00.000Z');
  expect(parseTime('2026-11-25T08:30:00+02:00')).toBe('2026-11-25T06:30:00.000Z');
  expect(Date.now() - Date.parse(parseTime('2d'))).toBeGreaterThanOrEqual(2 * 86_400_000);
  expect(() => parseTime('soon')).toThrow(/30m, 12h, 3d/);
});
