/** `aos memory` as a person uses it: real processes against the real service. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { first, present } from '../../src/platform/core/present.ts';
import { jsonOf, runCli } from '../embedded/service-process.ts';
import { codeOf } from '../support/service/otp.ts';
import { startTestService, type Tenant, type TestService } from '../support/service/service.ts';

let service: TestService;
let tenant: Tenant;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-memory-'));
  service = await startTestService({ worker: false });
  tenant = await service.tenant('acc_cli_memory');
});
afterAll(async () => {
  await service?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Runs it to its end. */
async function aos(...args: string[]) {
  const env = { DATA_DIR: folder, AOS_URL: service.baseUrl, AOS_SESSION: tenant.session };
  return runCli(['memory', ...args], env);
}
const ok = (stdout: unknown) => ({ code: 0, stdout, stderr: '' });

/** Runs what needs a code, and again with what it was told to add. */
async function confirmed(...args: string[]) {
  const { code, stderr } = await aos(...args);
  const [, scope] = /^error: (\S+) needs a code, which is in the log of the service/.exec(stderr) ?? [];
  const [, challenge] = /--challenge=(\S+) --code=<the six digits>\n$/.exec(stderr) ?? [];
  expect({ code, scope, challenge }).toEqual({ code: 1, scope: expect.any(String), challenge: expect.any(String) });
  return { scope, ...(await aos(...args, `--challenge=${challenge}`, '--code', codeOf(present(challenge)))) };
}

const add = async (body: object) =>
  (await tenant.cp('POST', '/v1/memory/entries', { type: 'note', content: 'x', ...body })).body;

// Guards: an entry that is added on the line or from a file is listed, found and shown, without control characters.
test('adds and finds', async () => {
  expect(await aos('list')).toEqual(ok('nothing yet; add something with: aos memory create "..."\n'));
  const added = await aos('add', 'The bakery opens at six, see [[holidays]].', '--slug', 'hours', '--type', 'fact');
  expect(added).toEqual(ok(expect.stringMatching(/^\d+: hours is kept\n$/)));
  const id = first(added.stdout.split(':'));
  const file = join(folder, 'entry.md');
  await writeFile(file, 'Closed in August.\n\u001b[31mAlways.');
  const made = jsonOf(await aos('add', '--file', file, '--slug', 'holidays', '--always', '--json'));
  expect(made).toMatchObject({ type: 'note', slug: 'holidays', always_load: true, scope: 'shared' });

  const listed = await aos('list');
  expect(listed.stdout).toMatch(/ID {2}TYPE .*\n *\d+ {2}note .*holidays {2}Closed in August\. .*\n.* fact /);
  expect((await aos('list', '--type', 'fact')).stdout).not.toContain('Closed');
  expect(await aos('search', 'when is the bakery open?', '--limit', '1')).toEqual(
    ok(expect.stringMatching(/\n *0\.\d{3} .*hours/)),
  );
  const shown = await aos('show', id);
  expect(shown.stdout).toContain(
    `The bakery opens at six, see [[holidays]].\n\nlinks\n  links_to    holidays (${made.id})`,
  );
  expect((await aos('show', String(made.id))).stdout).toContain(
    `Closed in August.\n[31mAlways.\n\nlinked by\n  links_to    hours (${id})`,
  );
});

// Guards: entries are corrected in every way there is, and a confirmation code is asked for where one is needed.
test('corrects', async () => {
  const { id } = await add({ content: 'It opens at six.', slug: 'opening' });
  const edited = await confirmed('update', String(id), 'It opens at seven.', '--description', 'Hours', '--archive');
  expect(edited).toMatchObject({ scope: `memory.update:${id}`, ...ok(`${id}: opening is changed\n`) });
  const { body } = await tenant.cp('GET', `/v1/memory/entries/${id}`);
  expect(body).toMatchObject({ content: 'It opens at seven.', description: 'Hours', status: 'archived' });
  expect(await confirmed('edit', String(id), '--restore')).toMatchObject(ok(`${id}: opening is changed\n`));
  expect(await aos('verify', String(id))).toEqual(ok(expect.stringMatching(/ is verified, \d{4}-/)));

  const superseded = await aos('supersede', String(id), 'It opens at eight.', '--json');
  const successor = JSON.parse(superseded.stdout);
  expect(successor).toMatchObject({ slug: 'opening', description: 'Hours', content: 'It opens at eight.' });
});

// Guards: one entry is deleted by its own endpoint and several by the bulk one, each only when confirmed.
test('deletes', async () => {
  const ids = [(await add({})).id, (await add({})).id];
  const removed = await confirmed('delete', ...ids.map(String));
  expect(removed.scope).toMatch(/^memory\.bulk_delete:2:/);
  expect(removed).toMatchObject(ok(`deleted: ${ids.join(', ')}\n`));
  const { id } = await add({});
  expect(await confirmed('delete', String(id))).toMatchObject({
    scope: `memory.delete:${id}`,
    ...ok(`deleted: ${id}\n`),
  });
});

// Guards: the counts and the graph of the memory are printed as sentences.
test('tells how it hangs together', async () => {
  await add({ slug: 'here', content: '[[there]] [[nowhere]]', type: 'drawn', agent: 'writer' });
  const there = await add({ slug: 'there', name: 'Over there', type: 'drawn' });
  expect((await aos('graph', '--type', 'drawn')).stdout).toBe(
    `Over there (${there.id}, drawn)\nhere (${there.id - 1}, drawn)\n  links_to Over there\n` +
      '2 entries, 1 links between them, 1 links that lead elsewhere or nowhere\n',
  );
  expect((await aos('stats')).stdout).toMatch(
    /^\d entries\n\nby agent\n +\d {2}\(every agent\)\n +1 {2}writer\n\nby type\n/,
  );
});

// Guards: mistakes are one clear line and exit code 1.
test.each([
  [['add', 'x', '--file', 'y'], 'error: give the content or --file, not both\n'],
  [['show', 'x'], 'expects the number of an entry'],
  [['show', '999999999'], 'there is no such thing in your workspace'],
  [['edit', '5', '--archive', '--restore'], 'cannot be used with'],
  [['delete', '5', '--code', '123456'], 'error: give both --challenge and --code\n'],
])('refuses %j', async (args, message) => {
  expect(await aos(...args)).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining(message) });
});
