/** `aos skills` as a person uses it: real processes against the real service, told apart by output and exit code. */
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
  folder = await mkdtemp(join(tmpdir(), 'aos-skills-'));
  service = await startTestService({ worker: false });
  tenant = await service.tenant('acc_cli_skills');
});
afterAll(async () => {
  await service?.close();
  await rm(folder, { recursive: true, force: true });
});

async function aos(...args: string[]) {
  const env = { DATA_DIR: folder, AOS_URL: service.baseUrl, AOS_SESSION: tenant.session };
  return runCli(['skills', ...args], env);
}
const get = async (slug: string) => (await tenant.cp('GET', `/v1/skills/${slug}`)).body;

// Guards: a skill can be made of a file, seen, changed field by field and deleted, without a line of HTTP.
test('goes through the life of a skill', async () => {
  const file = join(folder, 'house.md');
  await writeFile(file, '# House style\n\nShort sentences. See [[writing-style]].\n');
  const added = await aos('add', 'house-style', 'House style', '-f', file, '-a', 'writer, editor', '-d', 'Our tone');
  expect(added).toEqual({ code: 0, stdout: 'house-style: writer, editor can load it now\n', stderr: '' });
  expect(await get('house-style')).toMatchObject({
    title: 'House style',
    description: 'Our tone',
    agents: ['writer', 'editor'],
    always_load: false,
    body: '# House style\n\nShort sentences. See [[writing-style]].\n',
  });

  const edited = await aos('edit', 'house-style', '--always', '--scope', 'shared', '-n', 'Style of the house');
  expect(edited).toEqual({ code: 0, stdout: 'house-style is changed; every agent can load it\n', stderr: '' });
  expect(await get('house-style')).toMatchObject({ title: 'Style of the house', agents: [], always_load: true });
  await aos('edit', 'house-style', '--no-always');
  expect(await get('house-style')).toMatchObject({ title: 'Style of the house', always_load: false });

  const shown = await aos('show', 'house-style');
  expect(shown.stdout).toMatch(
    /^Style of the house\nOur tone\n\nslug {8}house-style\n[^]*agents {6}all\n[^]*\n\n# House/,
  );

  const listed = await aos('list');
  expect(listed.stdout).toMatch(/^SLUG +CATEGORY +KIND +LENGTH +USED BY +FOR\n/);
  expect(listed.stdout).toMatch(/\nhouse-style +house +custom +\d+ +0 +Our tone\n/);
  expect(listed.stdout).toMatch(/\nwriting-style +writing +built-in /);

  expect(await aos('delete', 'house-style')).toEqual({ code: 0, stdout: 'house-style is deleted\n', stderr: '' });
  expect(jsonOf(await aos('--json')).meta.custom).toBe(0);
});

// Guards: a refusal of the service is one line on stderr and exit code 1.
test.each([
  ['an unknown skill', ['show', 'nothing'], 'there is no such thing in your workspace'],
  ['a built-in skill', ['delete', 'planning'], 'planning is built in'],
  ['a change of nothing', ['edit', 'planning'], 'nothing to change'],
  ['a file that is not there', ['add', 'a', 'A', '--file', '/nowhere/a.md'], 'cannot read /nowhere/a.md'],
  ['two bodies', ['add', 'a', 'A', '--file', '-', '--body', 'B'], 'give --body or --file, not both'],
])('says what is wrong with %s', async (_, args, message) => {
  const { code, stdout, stderr } = await aos(...args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(message);
  expect(stderr).not.toMatch(/\n\s+at /);
});

// Guards: a body is printed on a terminal as plain text, whatever control characters are in it.
test('shows no control characters', async () => {
  const body = 'plain \u001b[31mred\u001b]0;title\u0007\tend';
  await tenant.cp('POST', '/v1/skills', { slug: 'escape', name: 'Es\u001b[1mcape', prompt_addendum: body });
  const { stdout } = await aos('show', 'escape');
  expect(stdout).toContain('plain [31mred]0;title\tend');
  expect(stdout).not.toMatch(/[\u001b\u0007]/);
});
