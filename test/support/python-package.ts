/** Packages of Python that tests need, each in an environment of its own. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Installs it where it is not there yet, whole or not at all. Start what it brings as a module of `<home>/bin/python`: its
 * scripts name the interpreter by the place where it was made.
 * @param requirement `name==1.2.3`
 * @throws Error when there is no python3 with venv, or it cannot be had
 */
export async function installPythonPackage(requirement: string, home: string): Promise<void> {
  if (existsSync(home)) return;
  const unfinished = `${home}.${process.pid}`;
  try {
    await mkdir(dirname(home), { recursive: true });
    await run('python3', ['-m', 'venv', unfinished]);
    await run(join(unfinished, 'bin/python'), ['-m', 'pip', 'install', '--quiet', requirement]);
    await rename(unfinished, home).catch(() => {}); // another process was first
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}
