/** `aos workspaces export` as an owner uses it: real processes against the real service. */
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { present } from '../../src/platform/core/present.ts';
import { jsonOf, runCli } from '../embedded/service-process.ts';
import { linesIn, unpack } from '../support/archives/unpack.ts';
import { codeOf } from '../support/service/otp.ts';
import { eventually, startTestService, type Tenant, type TestService } from '../support/service/service.ts';

let service: TestService;
let folder: string;
let tenant: Tenant;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-exports-'));
  service = await startTestService();
  tenant = await service.tenant('acc_shop');
  await tenant.run({ prompt: 'Say hello.' });
});
afterAll(async () => {
  await service?.close();
  await rm(folder, { recursive: true, force: true });
});

const aos = (...args: string[]) =>
  runCli(['workspaces', ...args], { DATA_DIR: folder, AOS_URL: service.baseUrl, AOS_SESSION: tenant.session });

/** Repeats a command with the code that it asks for. */
async function withCode(...args: string[]) {
  const { code, stderr } = await aos(...args);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('needs a code') });
  const challenge = present(/--challenge=(\S+)/.exec(stderr)?.[1]);
  return aos(...args, `--challenge=${challenge}`, `--code=${codeOf(challenge)}`);
}

const file = () => join(folder, 'shop.tar.gz');
let archive: { id: string; sha256: string };

// Guards: everything of a workspace in a file, by one command and a code.
test('makes an archive, waits for it, and downloads it whole', async () => {
  const { code, stdout, stderr } = await withCode('export', 'acc_shop', '-o', file());
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/has \d+ rows and 0 files/) });
  expect(stderr).toContain('the service keeps it until');
  const bytes = await readFile(file());
  expect(linesIn(await unpack(bytes), 'rows/runs')).toHaveLength(1);
  const { data } = jsonOf(await aos('exports', 'acc_shop', '--json'));
  expect(data[0].sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
  [archive] = data;
});

// Guards: a download that broke off goes on, and one that somebody spoiled is not taken for the archive.
test('goes on with a download that broke off', async () => {
  const whole = await readFile(file());
  const other = join(folder, 'other.tar.gz');
  await writeFile(`${other}.part`, whole.subarray(0, 1_000));
  const again = () => aos('export', 'acc_shop', '--archive', archive.id, '-o', other);
  expect((await again()).code).toBe(0);
  expect((await readFile(other)).equals(whole)).toBe(true);
  await writeFile(`${other}.part`, Buffer.alloc(1_000));
  expect(await again()).toMatchObject({ code: 1, stderr: expect.stringContaining('download it again') });
  expect(await readdir(folder)).not.toContain('other.tar.gz.part');
  expect((await again()).code).toBe(0);
});

// Guards: the end of a workspace offers everything first; and gives it, where that is asked for.
test('says how to keep everything before a workspace is deleted', async () => {
  const { code, stderr } = await aos('delete', 'acc_shop');
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('--export acc_shop.tar.gz') });
});

// Guards: an archive that is not wanted any more is gone, and the list says so.
test('removes an archive', async () => {
  expect(await aos('remove-export', 'acc_shop', archive.id)).toMatchObject({
    code: 0,
    stdout: `${archive.id} is removed\n`,
  });
  expect((await aos('exports', 'acc_shop')).stdout).toContain('removed');
  expect(await aos('export', 'acc_shop', '--archive', archive.id)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the archive was removed'),
  });
  const begun = await withCode('export', 'acc_shop', '--no-wait', '--json');
  const { id } = jsonOf(begun);
  await eventually(async () => {
    expect((await aos('exports', 'acc_shop', '--json')).stdout).toMatch(
      new RegExp(`"id": "${id}",\\s+"status": "ready"`),
    );
  });
});
