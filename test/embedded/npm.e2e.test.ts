/** What becomes of a service that npm runs when npm alone is told to end, or is killed. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { startTime } from '../../src/embedded/stale.ts';
import { present } from '../../src/platform/core/present.ts';
import { inherited } from '../support/processes/inherited.ts';
import { drawn } from '../support/runner/sizes.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const START = ['start'];
const DEMO = ['run', 'demo', '--', '--offline'];
/** Node before 22.15 starts another Node and waits for it. */
const WAITING_NODE = '--import=data:text/javascript,process.execve=undefined';

let folder: string;
let npm: ChildProcess;
let output: string;
let started: { pid: number; startedAt: string }[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aos-npm-'));
  output = '';
  started = [];
});
afterEach(async () => {
  for (const { pid } of await running()) process.kill(pid, 'SIGKILL');
  await rm(folder, { recursive: true, force: true, maxRetries: 40, retryDelay: 100 });
});

function runNpm(args: readonly string[], nodeOptions = ''): void {
  const env = { ...inherited('HOME', 'TEMPORAL_CLI_PATH'), PORT: '0', CONTROL_PLANE_PORT: '0' };
  npm = spawn('npm', args, {
    cwd: ROOT,
    env: { ...env, DATA_DIR: join(folder, 'data'), TMPDIR: folder, NODE_OPTIONS: nodeOptions },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [npm.stdout, npm.stderr])
    present(stream).on('data', (chunk: Buffer) => (output += chunk.toString()));
}

/** @returns the processes that npm has started, and those that these have started */
async function belowNpm() {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-ww', '-o', 'pid=,ppid=,args=']);
  const all = stdout.split('\n').map((line) => {
    const [, pid, parent, command = ''] = /^ *(\d+) +(\d+) (.*)$/.exec(line) ?? [];
    return { pid: Number(pid), parent: Number(parent), command };
  });
  const below = [{ pid: present(npm.pid), command: '' }];
  for (const { pid } of below) below.push(...all.filter(({ parent }) => parent === pid));
  return below.slice(1);
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await setTimeout(50);
}

/** Notes what runs, and tells npm alone. */
async function tellNpm(signal: NodeJS.Signals): Promise<void> {
  for (const { pid } of await belowNpm()) {
    const startedAt = await startTime(pid);
    if (startedAt) started.push({ pid, startedAt });
  }
  const ended = once(npm, 'exit');
  npm.kill(signal);
  await ended;
}

async function running() {
  const still = await Promise.all(started.map(async ({ pid, startedAt }) => (await startTime(pid)) === startedAt));
  return started.filter((_, at) => still[at]);
}

// Guards: whoever ends npm has ended the service, in order, whichever way npm ends and whichever Node it ran.
test.each(
  drawn(
    'ends of npm',
    (['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL'] as const).flatMap((signal) => [
      [signal, 'replaces itself', ''] as const,
      [signal, 'waits', WAITING_NODE] as const,
    ]),
    3,
  ),
)('npm start: %s to npm, whose Node %s', async (signal, _, nodeOptions) => {
  runNpm(START, nodeOptions);
  await until(() => output.includes('"event":"ready"'));
  await tellNpm(signal);
  expect(started.length).toBeGreaterThanOrEqual(3);
  await until(async () => (await running()).length === 0);
  expect(output).toContain('"msg":"stopped"');
});

// Guards: the same of the demo, also of one whose service is just starting; it leaves nothing of its throw-away directory.
test.each(
  drawn(
    'ends of the demo',
    [
      ['SIGTERM', 'starts', 'temporal server'],
      ['SIGINT', 'starts', 'temporal server'],
      ['SIGKILL', 'starts', 'temporal server'],
      ['SIGTERM', 'runs', undefined],
      ['SIGKILL', 'runs', undefined],
    ] as const,
    2,
  ),
)('npm run demo: %s to npm while the service %s', async (signal, _, command) => {
  runNpm([...DEMO, '--out', join(folder, 'out')]);
  const isThere = async () => (await belowNpm()).some((one) => one.command.includes(command ?? ''));
  await until(command ? isThere : () => output.includes('Started the service'));
  await tellNpm(signal);
  await until(async () => (await running()).length === 0);
  expect((await readdir(folder)).filter((name) => name.startsWith('aos-demo-'))).toEqual([]);
});
