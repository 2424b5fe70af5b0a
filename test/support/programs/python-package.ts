/** Packages of Python that tests need, each in an environment of its own. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeOnce } from './make-once.ts';

const run = promisify(execFile);

/**
 * Installs it where it is not there yet. Start what it brings as a module of `<home>/bin/python`: its scripts name the
 * interpreter by the place where it was made.
 * @param requirement `name==1.2.3`
 * @throws Error when there is no python3 with venv, or it cannot be had
 */
export const installPythonPackage = (requirement: string, home: string): Promise<void> =>
  makeOnce(home, async (unfinished) => {
    await run('python3', ['-m', 'venv', unfinished]);
    await run(join(unfinished, 'bin/python'), ['-m', 'pip', 'install', '--quiet', requirement]);
  });
