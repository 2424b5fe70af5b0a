/** `aos project` as a person uses it: real processes against the real service, told apart by output and exit code. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openable } from '../../src/platform/core/openable.ts';
import { boardLines, headline, pauseHelp } from '../../src/cli/project-board.ts';
import type { Subtask } from '../../client/src/api.ts';
import type { Board, PhaseWithStatus } from '../../src/cli/project-client.ts';
import { createServiceClient } from '../../src/cli/client.ts';
import { first } from '../../src/platform/core/present.ts';
import type { PauseReason } from '../../src/resources/projects/model.ts';
import { jsonOf, runCli, startCli } from '../embedded/service-process.ts';
import {
  agentStep,
  gateStep,
  makeTemplate,
  phaseSpec,
  reviewStep,
  stepOf,
  untilProject,
  untilStep,
} from '../support/fixtures/projects.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../support/service/service.ts';

let service: TestService;
let tenant: Tenant;
let folder: string;

const environment = () => ({
  DATA_DIR: folder,
  AOS_URL: service.baseUrl,
  AOS_API_KEY: tenant.apiKey,
  AOS_SESSION: tenant.session,
});
const cli = (args: string[]) => startCli(args, environment());
const aos = (...args: string[]) => runCli(['project', ...args], environment());
const ok = (stdout: unknown) => ({ code: 0, stdout, stderr: '' });
const failed = (stderr: string) => ({ code: 1, stdout: '', stderr: expect.stringContaining(stderr) });

async function start(workflow: string, ...more: string[]): Promise<string> {
  const { stdout, stderr } = await aos('start', workflow, '--brief', 'Bread\nand butter', '--json', ...more);
  expect(stderr).toBe('');
  return (JSON.parse(stdout) as { project_id: string }).project_id;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-project-'));
  service = await startTestService();
  tenant = await service.tenant('acc_cli_projects');
  const prompt = 'Is the draft\nany good?';
  await makeTemplate(tenant, 'letter', [
    phaseSpec('outline', [agentStep('write')]),
    phaseSpec('draft', [agentStep('write'), gateStep('check', 'human', { prompt, on_reject: 'rework' })], {
      depends_on: ['outline'],
    }),
  ]);
  await makeTemplate(tenant, 'broken', [
    phaseSpec('main', [
      agentStep('write', { max_attempts: 1 }),
      reviewStep('judge', { instructions: 'Review the work. [[reject: too dry]]' }),
    ]),
  ]);
  await makeTemplate(tenant, 'outside', [phaseSpec('main', [agentStep('write'), gateStep('ci', 'webhook')])]);
});
afterAll(async () => {
  await service?.close();
  await rm(folder, { recursive: true, force: true });
});

// Guards: the way of a project from its start to its files, with what each command prints.
test('starts, is watched, is approved, and leaves files', async () => {
  const started = await aos('start', 'letter', '--brief', 'Bread\nand butter', '--budget', '5');
  expect(started).toEqual(
    ok(expect.stringMatching(/^letter-[0-9a-f]{6} started; watch it with: aos project watch letter-/)),
  );
  const id = first(started.stdout.split(' '));

  const watching = cli(['project', 'watch', id]);
  await untilStep(tenant, id, 'draft', 'check', 'blocked');
  const approve = `aos project approve ${id} draft/check`;
  await eventually(() => expect(watching.stdout()).toContain(approve));
  expect(watching.stdout()).toContain('check waits for a person: Is the draft any good?');

  const gate = await stepOf(tenant, id, 'draft', 'check');
  const gates = jsonOf<{ data: unknown[] }>(await aos('gates', '--json'));
  expect(gates.data).toEqual([
    expect.objectContaining({ project_id: id, phase_slug: 'draft', step_slug: 'check', subtask_id: gate.id }),
  ]);
  expect((await aos('gates', id)).stdout).toContain(`draft/check  ${gate.id}`);
  const shown = await aos('show', id);
  expect(shown.stdout).toMatch(
    /✔ +outline +Phase outline +succeeded +\$0\.\d+\n⏸ +draft +Phase draft +blocked +check\n/,
  );
  expect(shown.stdout).toMatch(/active {2}\$0\.\d+ of \$5 \(0\.\d+%\)/);

  expect(await aos('approve', id, 'nope')).toEqual(
    failed(`no waiting gate "nope"; there is one waiting gate:\n  draft/check`),
  );
  expect(await aos('approve', id, '--comment', 'Lovely')).toEqual(ok('draft/check: approved; the project is active\n'));
  expect(await watching.ended).toBe(0);
  expect(watching.stderr()).toBe('');
  expect(watching.stdout()).toMatch(/gate_resolved +draft\/check.*comment=Lovely/);
  expect(watching.stdout()).toMatch(/\ncompleted {2}\$0\.\d+ of \$5/);
  expect((await stepOf(tenant, id, 'draft', 'check')).gate_output).toMatchObject({ comment: 'Lovely' });

  const out = join(folder, 'letter');
  expect((await aos('artifacts', id, '--out', out)).stdout).toContain(join(out, 'draft.md'));
  const { body } = await tenant.cp('GET', `/v1/projects/${id}/artifacts`);
  const draft = body.data.find(({ phase_slug }: { phase_slug: string }) => phase_slug === 'draft');
  expect(await readFile(join(out, 'draft.md'), 'utf8')).toBe(draft.content);
  expect((await aos('events', id)).stdout).toMatch(/^\S+ {2}project_started +by api-key:\d+\n[^]*project_completed/);
  expect((await aos('list', '--status', 'completed')).stdout).toMatch(new RegExp(`${id} +letter v1 +completed`));
});

// Guards: commands that steer reach the project and say what follows. A watch ends with the reason for a pause and with
// the command that ends it.
test('is retriggered, paused, resumed, turned down and reverted', async () => {
  const id = await start('letter');
  await untilStep(tenant, id, 'draft', 'check', 'blocked');
  await aos('approve', id);
  await untilProject(tenant, id, 'completed');

  const again = await aos('retrigger', id, 'outline', '--addendum', 'Shorter', '--cascade', 'strict');
  expect(again.stdout).toMatch(/^outline runs again, for about \$0\.\d+\nalso run again: draft\n/);
  const before = await untilStep(tenant, id, 'draft', 'check', 'blocked');

  expect((await aos('pause', id)).stdout).toContain(`go on with: aos project resume ${id}`);
  const watched = await aos('watch', id);
  expect(watched.code).toBe(1);
  expect(watched.stderr).toBe(
    `error: project ${id} is paused\n  a person paused it; it goes on with:\n  aos project resume ${id}\n`,
  );
  expect((await aos('resume', id, '--budget', '3')).stdout).toContain('goes on');
  expect((await tenant.cp('GET', `/v1/projects/${id}`)).body).toMatchObject({ status: 'active', cost_budget_usd: '3' });

  expect((await aos('reject', id, 'check', '--comment', 'Too long')).stdout).toContain('draft/check: rejected');
  await eventually(async () => {
    const { status, started_at } = await stepOf(tenant, id, 'draft', 'check');
    expect({ status, isLater: started_at > before.started_at }).toEqual({ status: 'blocked', isLater: true });
  });
  expect((await aos('approve', id, before.id)).code).toBe(0);
  await untilProject(tenant, id, 'completed');

  expect((await aos('revert', id, 'outline', '1')).stdout).toBe(
    'version 1 of outline is the current one\nnow stale: draft\n',
  );
  expect((await aos('show', id)).stdout).toContain(`aos project retrigger ${id} <phase>`);
  const all = jsonOf<{ data: { file: string }[] }>(await aos('artifacts', id, '--all', '--out', folder, '--json'));
  expect(all.data.map(({ file }) => file)).toEqual(expect.arrayContaining([join(folder, 'outline.v2.md')]));
});

// Guards: a step that failed is named with its error and with the commands that try it again.
test('says why a project does not go on', async () => {
  const { code, stdout, stderr } = await aos('start', 'broken', '--brief', 'Bread', '--watch');
  expect(code).toBe(1);
  expect(stdout).toMatch(/subtask_failed +main\/write/);
  const id = first(stdout.split(' '));
  expect(stderr).toContain(
    `error: project ${id} is paused\n  main/write: rejected by judge after 1 attempts: too dry\n`,
  );
  expect(stderr).toContain(`  aos project retry ${id} main/write\n  aos project resume ${id}\n`);

  expect(await aos('retry', id, '--addendum', 'Gently')).toEqual(
    ok(`main/write is queued again\nthe project is paused; go on with: aos project resume ${id}\n`),
  );
  expect(await aos('abandon', id)).toEqual(ok(`${id} is abandoned; artifacts are kept\n`));
  expect(await aos('watch', id)).toEqual(failed('was abandoned'));
});

// Guards: a person at a gate for a machine is told what the machine has to send, and files can be attached meanwhile.
test('names the signal that answers a webhook gate', async () => {
  const id = await start('outside');
  const gate = await untilStep(tenant, id, 'main', 'ci', 'blocked');
  const signal = `temporal workflow signal --workflow-id project-${id} --name resolveGate --input '{"subtask_id":"${gate.id}"`;
  expect(await aos('approve', id)).toEqual(failed(signal));

  const file = join(folder, 'notes.md');
  await writeFile(file, '# Notes');
  expect(await aos('attach', id, file)).toEqual(ok('attached notes.md: text of 7 characters\n'));
  expect(await aos('attach', id, join(folder, 'none'))).toEqual(failed(`cannot read ${join(folder, 'none')}`));
  await aos('abandon', id);
});

// Guards: the plan of an edit session is shown to whoever decides on it, and can be asked for anew or turned down.
test('plans an edit and decides on the plan', async () => {
  const id = await start('letter');
  await untilStep(tenant, id, 'draft', 'check', 'blocked');
  await aos('approve', id);
  await untilProject(tenant, id, 'completed');

  const planned = await aos('edit', id, 'Make it shorter');
  expect(planned.stderr).toBe('');
  expect(planned.stdout).toMatch(/ 1\. (edit_artifact|instruct|retrigger) (outline|draft)/);
  const approval = `aos project approve ${id} edit-session-1/approve_plan`;
  expect(planned.stdout).toContain(approval);
  const before = await stepOf(tenant, id, 'edit-session-1', 'approve_plan');
  expect((await aos('reject', id, '--changes', '--comment', 'Gentler')).stdout).toContain('request_changes');
  await eventually(async () => {
    const { status, started_at } = await stepOf(tenant, id, 'edit-session-1', 'approve_plan');
    expect({ status, isLater: started_at > before.started_at }).toEqual({ status: 'blocked', isLater: true });
  });
  expect((await aos('reject', id)).stdout).toContain('edit-session-1/approve_plan: rejected');
  await untilProject(tenant, id, 'completed');
});

describe('what goes wrong is one clear message and a failing exit code', () => {
  // Guards: the mistakes of the first minute are explained without a stack, and never sent to the service.
  test.each([
    ['no brief', ['start', 'letter'], 'give --brief, --brief-file or --sample'],
    ['no such file', ['start', 'letter', '--brief-file', '/nowhere'], 'cannot read /nowhere'],
    ['an unknown workflow', ['start', 'nope', '--brief', 'Bread'], 'unknown or archived workflow: nope (POST'],
    ['a bad param', ['start', 'letter', '--brief', 'Bread', '--param', 'size'], 'expects name=value'],
    [
      'an unknown project',
      ['show', 'nope-000000'],
      'there is no project nope-000000; list them with: aos project list',
    ],
    [
      'an unknown phase',
      ['retrigger', 'nope-000000', 'main'],
      'there is no project nope-000000, or no phase main in it',
    ],
    ['a bad cascade', ['retrigger', 'nope-000000', 'main', '--cascade', 'wild'], 'Allowed choices are lazy'],
    ['a bad version', ['revert', 'nope-000000', 'main', 'first'], 'expects a whole number'],
  ])('%s', async (_, args, message) => {
    const { code, stdout, stderr } = await aos(...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});

// Guards: help is there, with examples.
test('has help', async () => {
  expect((await aos('--help')).stdout).toMatch(/retrigger[^]*Examples:/);
  expect((await aos('approve', '--help')).stdout).toMatch(/--comment[^]*phase\/step/);
});

// Guards: an exported file opens by its extension, whatever its content was wrapped in.
test.each([
  ['<!doctype html><p>Hi', 'html', '<!doctype html><p>Hi'],
  ['  <html lang="en">', 'html', '  <html lang="en">'],
  ['<?xml version="1.0"?>\n<svg/>', 'svg', '<?xml version="1.0"?>\n<svg/>'],
  ['{"a":1}', 'json', '{"a":1}'],
  ['[see below]', 'md', '[see below]'],
  [{ filename: '../x.sh', content_type: 'text/html', content: '<html></html>' }, 'html', '<html></html>'],
  [{ title: 'Bread', content: '# Bread' }, 'md', '# Bread'],
  [{ svg: '<svg/>', alt: 'Bread' }, 'svg', '<svg/>'],
  [{ svg: 'no drawing', alt: 'Bread' }, 'json', '{\n  "svg": "no drawing",\n  "alt": "Bread"\n}\n'],
  [{ content: 'x', price: 1 }, 'json', '{\n  "content": "x",\n  "price": 1\n}\n'],
  [null, 'json', 'null\n'],
])('opens %j as %s', (content, extension, text) => {
  expect(openable(content)).toEqual({ extension, text });
});

describe('the board', () => {
  const NEW_YEAR = '2026-01-01T00:00:00.000Z';
  const step = (step_slug: string, more: Partial<Subtask>): Subtask => ({
    id: `id of ${step_slug}`,
    project_id: 'p-1',
    task_id: 't-1',
    step_slug,
    title: step_slug,
    kind: 'agent',
    role: 'producer',
    assignee: null,
    status: 'pending',
    instructions: null,
    tools: [],
    skills: [],
    effort: null,
    depends_on: [],
    output_schema: null,
    max_attempts: 3,
    timeout_s: null,
    gate_kind: null,
    gate_config: null,
    gate_output: null,
    attempt_count: 0,
    cost_usd: '0',
    is_priced: true,
    cost_budget_usd: null,
    error: null,
    created_at: NEW_YEAR,
    started_at: null,
    completed_at: null,
    ...more,
  });
  const phase = (phase_slug: string, status: PhaseWithStatus['status'], steps: Subtask[] = []): PhaseWithStatus => ({
    id: phase_slug,
    project_id: 'p-1',
    phase_slug,
    title: phase_slug,
    status,
    depends_on: [],
    task_kind: 'regular',
    cascade_on_upstream_change: 'lazy',
    cost_usd: '0',
    is_priced: true,
    cost_budget_usd: null,
    created_at: NEW_YEAR,
    started_at: null,
    completed_at: null,
    steps,
  });
  const board = (phases: PhaseWithStatus[], pause_reason: PauseReason | null = null): Board => ({
    phases,
    project: {
      id: 'p-1',
      title: 'P',
      workflow_slug: 'w',
      workflow_version: 1,
      has_stale_phases: false,
      status: pause_reason ? 'paused' : 'active',
      pause_reason,
      brief: 'x',
      params: null,
      owner_kind: 'internal',
      owner_id: 'internal',
      auth_mode: 'api_key',
      anthropic_workspace_id: null,
      cost_budget_usd: '2',
      is_priced: true,
      cost_warning_threshold: '0.8',
      cost_total_usd: '0.5',
      cost_burst_per_minute_usd: null,
      sample: false,
      created_at: NEW_YEAR,
      started_at: NEW_YEAR,
      completed_at: null,
      abandoned_at: null,
    },
  });
  const client = createServiceClient({
    baseUrl: 'http://x',
    apiKey: '',
    session: '',
    uiUrl: '',
    temporalAddress: 't:1',
  });

  // Guards: each kind of gate says whom it waits for.
  test('says what opens a gate', () => {
    const gate = (gate_kind: Subtask['gate_kind'], gate_config: Record<string, unknown>) =>
      boardLines(
        client,
        board([
          phase('main', 'blocked', [
            step('g', {
              kind: 'gate',
              status: 'blocked',
              gate_kind,
              gate_config,
              started_at: '2026-01-01T00:00:00.000Z',
            }),
          ]),
        ]),
      ).slice(1);
    expect(gate('schedule', { delay_s: 60 })).toEqual(['   g opens at 2026-01-01 00:01:00 UTC']);
    expect(gate('schedule', { at: '2026-02-01T01:00:00+01:00' })).toEqual(['   g opens at 2026-02-01 00:00:00 UTC']);
    expect(gate('schedule', { cron: '0 9 * * 1' })).toEqual(['   g opens at the next "0 9 * * 1" (UTC)']);
    expect(gate('pipeline_dep', { project_id: 'p-2' })).toEqual(['   g waits until project p-2 is completed']);
    // What would move the cursor is left out.
    expect(gate('human', { prompt: 'Is it\n\u001b[2Jgood?' })[0]).toBe('   g waits for a person: Is it [2Jgood?');
    expect(gate('webhook', {})[1]).toMatch(
      /^ +temporal workflow signal --address t:1 --workflow-id project-p-1 --name/,
    );
  });

  // Guards: a pipeline of 200 phases fits on a screen and shows the phases that matter.
  test('shows of many phases what happens', () => {
    const many = Array.from({ length: 200 }, (_, i) =>
      phase(`p${i}`, i < 100 ? 'succeeded' : i === 100 ? 'running' : 'pending', [
        ...(i === 100 ? [step('write', { status: 'running', attempt_count: 2 })] : []),
      ]),
    );
    const lines = boardLines(client, board(many));
    expect(lines).toHaveLength(5);
    expect(lines[0]).toMatch(/▶ +p100 +p100 +running +write \(attempt 2\)/);
    expect(lines.at(-1)).toBe('200 phases: 99 pending, 1 running, 100 succeeded');
    expect(headline(board([]).project, Date.parse('2026-01-01T01:02:03.000Z'))).toBe(
      'active  $0.5 of $2 (25%)  1:02:03',
    );
  });

  // Guards: each reason for a pause names the command that ends it.
  test.each<[PauseReason, string[]]>([
    ['requested', ['  aos project resume p-1']],
    ['budget_breached', ['too dear; $0.5 is spent', '  aos project resume p-1 --budget <usd>']],
    ['gate_rejected', ['main/write: no', '  aos project retry p-1 main/write', '  aos project resume p-1']],
    ['gate_misconfigured', [expect.stringContaining('corrected workflow') as never]],
    ['repeat_crash', [expect.stringContaining('without an outcome') as never]],
  ])('explains %s', (reason, lines) => {
    const paused = board([phase('main', 'failed', [step('write', { status: 'failed', error: 'no' })])], reason);
    expect(pauseHelp(paused, 'too dear')).toEqual(expect.arrayContaining(lines));
  });
});
