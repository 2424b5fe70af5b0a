/** The runner of the tests: what fails is told, and no file finds what another one has left. */
import { DefaultLogger } from '@temporalio/worker';
import { describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Worker as Thread } from 'node:worker_threads';
import { optionsOf } from '../support/runner/options.ts';
import { KINDS, leftOut } from '../support/runner/parts.ts';
import { draw } from '../support/runner/sizes.ts';
import { BUNDLE, bundleWorkflows } from '../support/temporal/workflow-bundle.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CONFIG = {
  rootDir: ROOT,
  transform: {},
  testMatch: ['<rootDir>/test/support/runner/cases/*.case.ts'],
  testRunner: '<rootDir>/test/support/runner/runner.mjs',
  testTimeout: 5_000,
};

interface Report {
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { title: string; status: string }[];
  }[];
}

// Guards: the runner reports a failing test as failed. Without that, no other test would prove anything.
test('tells each test as it ended', async () => {
  const jest = createRequire(import.meta.url).resolve('jest/bin/jest');
  const args = [jest, '--config', JSON.stringify(CONFIG), '--json', '--runInBand', '--testSequencer', SEQUENCER];
  const { code, stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, timeout: 40_000 }).then(
    ({ stdout }) => ({ code: 0, stdout }),
    ({ code, stdout }: { code: number; stdout: string }) => ({ code, stdout }),
  );
  const { testResults } = JSON.parse(stdout) as Report;
  const told = testResults
    .map(({ name, assertionResults, message }) => [
      name.replace(/^.*\//, ''),
      assertionResults.length > 0
        ? Object.fromEntries(assertionResults.map(({ title, status }) => [title, status]))
        : /not loaded/.exec(message)?.[0],
    ])
    .sort();
  expect({ code, told }).toEqual({
    code: 1,
    told: [
      [
        '1-leaves-traces.case.ts',
        {
          passes: 'passed',
          'cannot put another environment in the place of the one of the process': 'passed',
          'is skipped': 'pending',
        },
      ],
      ['2-finds-none.case.ts', { 'finds nothing of the file before': 'passed' }],
      [
        '3-fails.case.ts',
        {
          'fails by an assertion': 'failed',
          'fails by a promise': 'failed',
          'fails by its time': 'failed',
          'fails by a promise that nobody waits for': 'failed',
          'fails by its preparation': 'failed',
          passes: 'passed',
        },
      ],
      ['4-is-none.case.ts', 'not loaded'],
    ],
  });
});

/** By name. */
const SEQUENCER = fileURLToPath(new URL('../support/runner/by-name.mjs', import.meta.url));

describe('a run of all tests', () => {
  const seedOf = (args: string, env = {}) => optionsOf(args.split(' ').filter(Boolean), env).seed;

  // Guards: who names a test has all of it tried, and what has to pass before a change lands tries everything.
  test('draws a part where nothing is named, and all is not asked for', () => {
    for (const args of ['', '-w 4', '--small', '--times --silent']) expect(seedOf(args)).toMatch(/^\d+$/);
    for (const args of ['--all', '--all -w 4', 'test/console', '-t viewer', '--all --small']) {
      expect([args, seedOf(args)]).toEqual([args, undefined]);
    }
    expect(seedOf('', { TEST_SEED: '4711' })).toBe('4711');
    expect(seedOf('test/console', { TEST_SEED: '4711' })).toBe('4711');
    expect(seedOf('--all', { TEST_SEED: '4711' })).toBeUndefined();
    expect(optionsOf(['--all', '--rows', '-w', '4'], {})).toMatchObject({ isWhole: true, forJest: ['-w', '4'] });
    expect(optionsOf(['--small'], {})).toMatchObject({ isWhole: false, isSmall: true });
  });

  // Guards: a run that failed is repeated with its seed, and in time everything has its turn.
  test('draws the same with the same seed, and each some time', () => {
    const all = ['a', 'b', 'c', 'd', 'e'];
    const draws = Array.from({ length: 100 }, (_, seed) => draw(`${seed} letters`, all, 2));
    for (const [seed, drawnOnce] of draws.entries()) {
      expect(draw(`${seed} letters`, all, 2)).toEqual(drawnOnce);
      expect(drawnOnce).toHaveLength(2);
      expect([...drawnOnce].sort()).toEqual(drawnOnce);
    }
    expect([...new Set(draws.flat())].sort()).toEqual(all);
    expect(draw('1', all, 0.5)).toHaveLength(1);
    expect(draw('1', all, 9)).toEqual(all);
  });
});

// Guards against: a kind of check that is in no ordinary run, and a file that never has its turn.
test('a run that draws takes some files of each kind', () => {
  const all = Object.values(KINDS).flatMap(({ files }) => files);
  expect(all.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  const left = Array.from({ length: 60 }, (_, seed) => leftOut(String(seed)));
  for (const [seed, files] of left.entries()) {
    expect(leftOut(String(seed))).toEqual(files);
    for (const kind of Object.values(KINDS)) {
      expect(kind.files.filter((file) => !files.includes(file))).toHaveLength(kind.taken);
    }
  }
  for (const file of all) expect([file, left.every((files) => files.includes(file))]).toEqual([file, false]);
});

// Guards: the workers of a process share the thread of their workflows, and one that has ended is replaced.
test('workers that have the same workflows share a thread', async () => {
  const load = createRequire(import.meta.url);
  const { ThreadedVMWorkflowCreator } = load('@temporalio/worker/lib/workflow/threaded-vm');
  const { parseWorkflowCode } = load('@temporalio/worker/lib/worker');
  const { code } = await bundleWorkflows();
  const start = async (...activities: string[]) => {
    const creator = await ThreadedVMWorkflowCreator.create({
      threadPoolSize: 1,
      isolateExecutionTimeoutMs: 5_000,
      reuseV8Context: true,
      workflowBundle: parseWorkflowCode(code, BUNDLE),
      registeredActivityNames: new Set(activities),
      logger: new DefaultLogger('WARN'),
    });
    await creator.destroy();
    const { workerThread }: { workerThread: Thread } = creator.workerThreadClients[0];
    return workerThread;
  };
  const [one, two, other] = [await start('a', 'b'), await start('b', 'a'), await start('a')];
  expect(two).toBe(one);
  expect(other).not.toBe(one);
  await Promise.all([one, other].map((thread) => thread.terminate()));
  const next = await start('a', 'b');
  expect(next).not.toBe(one);
  await next.terminate();
});
