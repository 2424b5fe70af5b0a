/** The program of bubblewrap: the machine's, else that of Debian's package. */
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeWithUs } from '../../bench/processes.ts';
import { launchEnvironment } from '../../../src/platform/sandbox/bubblewrap.ts';
import { unpackDebianPackage } from './debian-package.ts';

/** @returns for the setting `TOOLS_BUBBLEWRAP`; where it cannot be had, a name that the sandbox will not find */
export async function bubblewrapProgram(): Promise<string> {
  const isInstalled = launchEnvironment.PATH.split(':').some((folder) => existsSync(join(folder, 'bwrap')));
  const unpacked = isInstalled ? undefined : await unpackDebianPackage('bubblewrap').catch(() => undefined);
  if (unpacked === undefined) return 'bwrap';
  // Root starts it as nobody, who may not look into the folder that this project is in.
  const folder = await mkdtemp(join(tmpdir(), 'aos-bubblewrap-'));
  removeWithUs(folder);
  const program = join(folder, 'bwrap');
  await chmod(folder, 0o755);
  await copyFile(join(unpacked, 'usr/bin/bwrap'), program);
  return program;
}
