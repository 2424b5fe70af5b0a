/** A workspace as files: exported, planned and applied by the command line, in real processes against the real service. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { runCli } from '../embedded/service-process.ts';
import { startTestService, type Tenant, type TestService } from '../support/service/service.ts';

let service: TestService;
let tenant: Tenant;
let folder: string;
let made = 0;

beforeAll(async () => {
  service = await startTestService();
});
afterAll(async () => service?.close());
beforeEach(async () => {
  made += 1;
  tenant = await service.tenant(`acc_files_${made}`);
  folder = await mkdtemp(join(tmpdir(), 'aos-files-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const run = (args: string[], env: Record<string, string> = {}) =>
  runCli(args, { DATA_DIR: folder, AOS_URL: service.baseUrl, AOS_SESSION: tenant.session, AOS_API_KEY: '', ...env });
/** @returns what it printed, having succeeded */
async function aos(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(args);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  return stdout;
}
async function file(name: string, text: string): Promise<void> {
  const path = join(folder, 'deploy', name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
const directory = () => join(folder, 'deploy');

const EDITOR = `slug: proofer
description: Edits
prompt: |
  You edit.
  Say less.
allowed_tools: [load_skill, glossary]
`;
const GLOSSARY = `slug: glossary
description: What our words mean
kind: stub
body: { result: none }
`;
const STYLE = `slug: house-style
name: House style
agents: [proofer]
body: Short sentences.
`;
const REPORT = `slug: report
title: Report
tags: [weekly]
phases:
  - slug: write
    title: Write
    steps:
      - step_slug: draft
        kind: agent
        assignee: proofer
        skills: [house-style]
        instructions: |
          Draft it.
          Be brief.
`;
async function fourFiles(): Promise<void> {
  await file('agents/proofer.yaml', EDITOR);
  await file('tools/glossary.yaml', GLOSSARY);
  await file('skills/house-style.yaml', STYLE);
  await file('workflows/report.yaml', REPORT);
}

// Guards: what is written by hand is planned, applied and then as it is; and so is what is exported again.
test('what was applied is not planned again, and an export of it neither', async () => {
  await fourFiles();
  expect(await run(['plan', directory(), '--detailed-exitcode'])).toMatchObject({
    code: 2,
    stdout: expect.stringMatching(
      /^\+ tool glossary .*\n\+ skill house-style .*\n\+ agent proofer .*\n\+ workflow report {2}workflows\/report.yaml\n\n4 to make, 0 to change, 0 to delete, 0 as in the files\n$/,
    ),
  });
  expect(await aos('apply', directory(), '--yes')).toMatch(/\napplied: 4 changes\n$/);
  expect(await run(['plan', directory(), '--detailed-exitcode'])).toMatchObject({
    code: 0,
    stdout: 'nothing to change: 4 as in the files\n',
  });
  expect(await aos('apply', directory())).toBe('nothing to change: 4 as in the files\n');

  const elsewhere = join(folder, 'exported');
  expect(await aos('export', elsewhere)).toContain('4 written, 0 as they were');
  expect(parse(await readFile(join(elsewhere, 'agents/proofer.yaml'), 'utf8'))).toEqual(parse(EDITOR));
  expect(parse(await readFile(join(elsewhere, 'workflows/report.yaml'), 'utf8'))).toEqual(parse(REPORT));
  expect(await aos('plan', elsewhere)).toBe('nothing to change: 4 as in the files\n');
  expect(await aos('export', elsewhere)).toContain('0 written, 4 as they were');
});

// Guards: proofers are told what a file may say, by a schema that lies where the first line of each file says.
test('each exported file names its schema', async () => {
  await fourFiles();
  await aos('apply', directory(), '--yes');
  await aos('export', directory());
  expect(await readFile(join(directory(), 'agents/proofer.yaml'), 'utf8')).toBe(EDITOR);
  const fresh = join(folder, 'fresh');
  await aos('export', fresh);
  const text = await readFile(join(fresh, 'agents/proofer.yaml'), 'utf8');
  const [, schema = ''] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(text) ?? [];
  const read = JSON.parse(await readFile(join(fresh, 'agents', schema), 'utf8'));
  expect(read).toMatchObject({ type: 'object', additionalProperties: false, required: ['slug', 'prompt'] });
  expect(Object.keys(read.properties)).toContain('on_lost_effect');
  expect(await readdir(join(fresh, '.schemas'))).toContain('workflow.json');
});

// Guards: a plan says which part of which text changes, and which projects go on with the version before.
test('a change is shown by what it means, with what it affects', async () => {
  await fourFiles();
  await aos('apply', directory(), '--yes');
  const gated = REPORT.replace('tags: [weekly]', 'tags: [weekly, long]')
    .replace('Be brief.', 'Be thorough.')
    .replace('    steps:\n', '    steps:\n      - { step_slug: ask, kind: gate, gate_kind: human }\n');
  await file('workflows/report.yaml', gated);
  await aos('apply', directory(), '--yes');
  const { body } = await tenant.api('POST', '/v1/projects', { workflow_slug: 'report', brief: 'Go', title: 'One' });
  expect(body.id ?? body.project_id).toBeDefined();
  await file('workflows/report.yaml', gated.replace('Be thorough.', 'Be quick.').replace('title: Write', 'title: Now'));
  const shown = await aos('plan', directory());
  expect(shown).toContain('~ workflow report  workflows/report.yaml\n    phases.write.title: "Write" -> "Now"\n');
  expect(shown).toContain(
    'phases.write.steps.draft.instructions\n      - Be thorough.\n      + Be quick.\n    1 active project keeps version 2\n',
  );
  await aos('apply', directory(), '--yes');
  expect(await aos('workflows', 'versions', 'report')).toMatch(/\n +3 +active.*\n +2 +active.*\n +1 +active/);
});

// Guards: everything that is wrong is told at once, with file and line and what may have been meant, and nothing is written.
test('a faulty file changes nothing', async () => {
  await fourFiles();
  await file('agents/proofer.yaml', EDITOR.replace('description:', 'descripton:'));
  await file('skills/house-style.yaml', STYLE.replace('[proofer]', '[proofer, profer]'));
  await file('workflows/report.yaml', `${REPORT}        max_attempts: many\n`);
  const broken = await run(['apply', directory(), '--yes']);
  expect(broken.code).toBe(1);
  expect(broken.stderr).toContain('faults; nothing is changed');
  expect(broken.stderr).toContain('  agents/proofer.yaml:2: descripton: Unknown field; did you mean "description"?\n');
  expect(broken.stderr).toMatch(/ {2}workflows\/report.yaml:15: phases\.0\.steps\.0\.max_attempts: /);

  await file('agents/proofer.yaml', EDITOR);
  await file('workflows/report.yaml', REPORT.replace('assignee: proofer', 'assignee: proofr'));
  const dangling = await run(['apply', directory(), '--yes']);
  expect(dangling.code).toBe(1);
  expect(dangling.stderr).toContain(
    'workflows/report.yaml:10: phases.0.steps.0.assignee: there is no agent "proofr"; did you mean "proofer"?',
  );
  expect(dangling.stderr).toContain(
    'skills/house-style.yaml:3: agents.1: there is no agent "profer"; did you mean "proofer"?',
  );
  await file('agents/proofer.yaml', 'slug: [\n');
  expect((await run(['plan', directory()])).stderr).toMatch(/ {2}agents\/proofer\.yaml:2: /);
  expect(await aos('agents')).not.toContain('proofer');
  expect(await aos('tools')).not.toContain('glossary');
});

// Guards: a directory has YAML and JSON side by side; a fault in JSON is told with file and line; an export keeps JSON as JSON.
test('JSON beside YAML', async () => {
  await fourFiles();
  await rm(join(directory(), 'agents/proofer.yaml'));
  await rm(join(directory(), 'workflows/report.yaml'));
  await file('package.json', '{"private": true}');
  const editor = { $schema: '../.schemas/agent.json', ...parse(EDITOR) };
  await file('agents/proofer.json', JSON.stringify(editor, null, '\t'));
  await file('workflows/report.json', JSON.stringify(parse(REPORT), null, 2));
  expect(await aos('apply', directory(), '--yes')).toMatch(/\napplied: 4 changes\n$/);
  expect(await aos('plan', directory())).toBe('nothing to change: 4 as in the files\n');

  await aos('agents', 'update', 'proofer', '--description', 'By hand');
  expect(await aos('export', directory())).toContain('agents/proofer.json\n');
  const exported = await readFile(join(directory(), 'agents/proofer.json'), 'utf8');
  expect(JSON.parse(exported)).toEqual({ ...editor, description: 'By hand' });
  expect(await aos('plan', directory())).toContain('nothing to change: 4 as in the files');

  await file('agents/proofer.json', exported.replace('"description"', '"descripton"'));
  await file('skills/again.json', JSON.stringify(parse(STYLE)));
  const { stderr } = await run(['plan', directory()]);
  expect(stderr).toContain('  agents/proofer.json:4: descripton: Unknown field; did you mean "description"?\n');
  expect(stderr).toContain('  skills/house-style.yaml:1: skills/again.json is of the same skill, house-style\n');
  await file('agents/proofer.json', '{\n  "slug": "proofer"\n  "prompt": "You edit."\n}\n');
  expect((await run(['plan', directory()])).stderr).toMatch(/ {2}agents\/proofer\.json:3: /);
});

// Guards: what was changed by hand after a plan was made is not overwritten by it.
test('a plan that is out of date is refused', async () => {
  await fourFiles();
  await aos('apply', directory(), '--yes');
  await file('agents/proofer.yaml', EDITOR.replace('Say less.', 'Say more.'));
  const kept = join(folder, 'plan.json');
  await aos('plan', directory(), '--out', kept);
  await aos('agents', 'update', 'proofer', '--description', 'By hand');
  const late = await run(['apply', directory(), '--plan', kept, '--yes']);
  expect(late).toMatchObject({ code: 1, stderr: expect.stringContaining('plan again') });
  expect(await aos('agents', 'show', 'proofer')).toMatch(/By hand[^]*Say less/);
  await aos('plan', directory(), '--out', kept);
  expect(await aos('apply', directory(), '--plan', kept, '--yes')).toMatch(/applied: 1 change\n$/);
  expect(await aos('agents', 'show', 'proofer')).toMatch(/Edits[^]*Say more/);
});

// Guards: where nobody can be asked, nothing is done without being told to; and a directory by mistake is no empty one.
test('asks before it changes anything', async () => {
  await fourFiles();
  expect(await run(['apply', directory()])).toMatchObject({ code: 1, stderr: expect.stringContaining('say --yes') });
  expect(await run(['plan', join(folder, 'nowhere')])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('it is no directory'),
  });
  await mkdir(join(folder, 'empty'));
  expect((await run(['plan', join(folder, 'empty')])).stderr).toContain('has no files');
  await file('agent/other.yaml', EDITOR);
  await file('stray.yaml', EDITOR);
  const { stderr } = await run(['plan', directory()]);
  expect(stderr).toContain('agent:1: no kind has this folder; did you mean "agents"?');
  expect(stderr).toContain('stray.yaml:1: lies in no folder of a kind');
});
