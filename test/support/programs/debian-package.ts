/**
 * Programs of Debian's packages that tests need, without being root and without installing anything: apt keeps its lists in
 * the project's cache, and the package is only unpacked.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inCache, makeOnce } from './make-once.ts';

const run = promisify(execFile);

/**
 * @param name of a package for this release of Debian or Ubuntu
 * @returns the folder it is unpacked in, which has `usr/bin` and the like
 * @throws Error when there is no apt, or it cannot be had
 */
export async function unpackDebianPackage(name: string): Promise<string> {
  const folder = inCache('debian', name);
  await makeOnce(folder, async (unfinished) => {
    process.stderr.write(`Getting the Debian package ${name}, once ...\n`);
    await mkdir(unfinished);
    const apt = await mkdtemp(join(unfinished, 'apt-'));
    for (const part of ['lists/partial', 'cache/archives/partial']) await mkdir(join(apt, part), { recursive: true });
    const own = ['-o', `Dir::State::lists=${join(apt, 'lists')}`, '-o', `Dir::Cache=${join(apt, 'cache')}`];
    // Of the lists only those that can be had: a machine may name sources that it does not reach.
    await run('apt-get', [...own, '-qq', 'update'], { cwd: apt });
    await run('apt-get', [...own, '-qq', 'download', name], { cwd: apt });
    const file = (await readdir(apt)).find((each) => each.endsWith('.deb'));
    if (!file) throw new Error(`apt-get downloaded nothing for ${name}`);
    await run('dpkg', ['-x', join(apt, file), unfinished]);
    await rm(apt, { recursive: true, force: true });
  });
  return folder;
}
