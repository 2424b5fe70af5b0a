/** Folders for what is not kept, and what is left of them when a process is killed. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { openSpool } from '../../../src/platform/files/spool.ts';

let folder: string;
const TMPDIR = process.env.TMPDIR;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-spools-'));
  process.env.TMPDIR = folder;
});
afterEach(async () => {
  if (TMPDIR === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = TMPDIR;
  await rm(folder, { recursive: true, force: true });
});

/** Another process with a folder of its own. */
async function another() {
  const module = new URL('../../../src/platform/files/spool.ts', import.meta.url).href;
  const code = `const { path } = await (await import('${module}')).openSpool('work');
    process.stdout.write(path); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  const path = String((await once(child.stdout, 'data'))[0]);
  await writeFile(join(path, 'large'), 'somebody');
  return {
    name: basename(path),
    async kill() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

// Guards: rows of a workspace do not lie about on the machine where a worker was killed.
test('what a killed process has left is gone with the next one, and nothing else', async () => {
  const [killed, alive] = [await another(), await another()];
  try {
    await killed.kill();
    const own = await openSpool('work');
    const beside = await openSpool('work');
    await writeFile(join(folder, 'work-notes'), 'of somebody');
    await openSpool('works');
    const there = await readdir(folder);
    expect(there).not.toContain(killed.name);
    expect(there).toEqual(
      expect.arrayContaining([alive.name, basename(own.path), basename(beside.path), 'work-notes']),
    );
    await own.close();
    expect(await readdir(folder)).not.toContain(basename(own.path));
  } finally {
    await alive.kill();
  }
});

// Guards: a container that is started again has the number of the process that was killed in it.
test('one of an earlier process with the same number is gone too', async () => {
  const left = await mkdtemp(join(folder, `work-${process.pid}-`));
  const { path, close } = await openSpool('work');
  expect(await readdir(folder)).toEqual([basename(path)]);
  await close();
  expect(basename(left)).not.toBe(basename(path));
});
