/** The runner of the tests: what fails is told, and no file finds what another one has left. */
import { DefaultLogger } from '@temporalio/worker';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Worker as Thread } from 'node:worker_threads';
import { format, longFiles, merge } from '../support/runner/long-files.ts';
import { optionsOf, sampleOf } from '../support/runner/options.ts';
import { sampledLines } from '../support/runner/sampled-lines.ts';
import { draw } from '../support/runner/sizes.ts';
import { BUNDLE, bundleWorkflows } from '../support/temporal/workflow-bundle.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CONFIG = {
  rootDir: ROOT,
  transform: {},
  testMatch: ['<rootDir>/test/support/runner/cases/*.case.ts'],
  testRunner: '<rootDir>/test/support/runner/runner.mjs',
  testTimeout: 5_000,
  // One worker, in which the second file follows the first.
  maxWorkers: 1,
  workerIdleMemoryLimit: '2GB',
  workerGracefulExitTimeout: 30_000,
  reporters: [
    ['<rootDir>/test/support/runner/progress.mjs', { log: '.cache/cases-output.log', lineEveryMs: 20 }],
    '<rootDir>/test/support/runner/reporter.mjs',
  ],
};

interface Report {
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { title: string; status: string }[];
  }[];
}

let code: number;
let stdout: string;
let stderr: string;
beforeAll(async () => {
  const jest = createRequire(import.meta.url).resolve('jest/bin/jest');
  const args = [jest, '--config', JSON.stringify(CONFIG), '--json', '--testSequencer', SEQUENCER];
  const env = {
    ...process.env,
    TEST_WHOLE: 'true',
    TEST_ROWS: '',
    TEST_TIMES: '',
    TEST_WRITE_TIMES: '',
    TEST_DRAWN: '',
  };
  const run = promisify(execFile)(process.execPath, args, { cwd: ROOT, env });
  ({ code, stdout, stderr } = await run.then(
    (ended) => ({ ...ended, code: 0 }),
    (ended: { code: number; stdout: string; stderr: string }) => ended,
  ));
});

// Guards: the runner reports a failing test as failed. Without that, no other test would prove anything.
test('tells each test as it ended', () => {
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

// Guards: a run shows its failures with what those files printed, how far it is, and nothing else; the log has the rest.
test('prints only what matters', async () => {
  const log = await readFile(join(ROOT, '.cache/cases-output.log'), 'utf8');
  expect(stderr).toMatch(/^FAIL test\/support\/runner\/cases\/3-fails\.case\.ts/m);
  expect(stderr).toContain('printed by a file that fails');
  expect(stderr).not.toContain('printed by a file that passes');
  expect(stderr).not.toContain('PASS');
  expect(stderr).toContain('*** SKIPPED: nothing is proved here about cases: this is one');
  expect(stderr).toMatch(/^0 min: \d of 4 files done.*; running test\/support\/runner\/cases\/.* \(0 s\)/m);
  expect(stderr.trimEnd().split('\n').at(-1)).toBe('4 passed, 6 failed, 1 skipped');
  expect(log).toContain('printed by a file that passes');
  expect(log).toContain('printed by a program that a test starts');
  expect(log).not.toContain('failed to exit gracefully');
});

/** By name. */
const SEQUENCER = fileURLToPath(new URL('../support/runner/by-name.mjs', import.meta.url));

describe('what a run draws', () => {
  const read = (args: string, env = {}) => optionsOf(args.split(' ').filter(Boolean), env);

  // Guards: a run of all tests leaves out no file, and a test that is named tries everything.
  test('long lists are sampled if no test is named, and files only with --sample', () => {
    for (const args of ['', '-w 4', '--times --silent']) {
      expect(read(args)).toMatchObject({ seed: expect.stringMatching(/^\d+$/), isWhole: true, sampleSize: undefined });
    }
    for (const args of ['test/console', '-t viewer', 'test --verbose']) {
      expect(read(args)).toMatchObject({ seed: undefined, isWhole: false, sampleSize: undefined });
    }
    for (const args of ['--sample', '--sample -w 4', 'test/console --sample']) {
      expect(read(args)).toMatchObject({ seed: expect.stringMatching(/^\d+$/), isWhole: false, sampleSize: 40 });
    }
    expect(read('--sample=7')).toMatchObject({ sampleSize: 7, forJest: [] });
    expect(read('', { TEST_SEED: '4711' }).seed).toBe('4711');
    expect(read('test/console', { TEST_SEED: '4711' }).seed).toBe('4711');
    expect(read('--rows --write-times -w 4')).toMatchObject({ writesTimes: true, forJest: ['-w', '4'] });
  });

  // Guards: a run that failed is repeated with its seed, and in time everything has its turn.
  test('is the same with the same seed, and each some time', () => {
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
    expect(sampleOf(['b', 'a', 'c'], 2, '1')).toEqual(sampleOf(['c', 'b', 'a'], 2, '1'));
    expect(sampleOf(all, 40, '1')).toEqual(all);
  });

  // Guards: a reader of the run sees what it left out.
  test('the summary adds up what was sampled, and leaves out what was tried as a whole', () => {
    const records = [
      ['pages', 2, 9],
      ['commands', 1, 1],
      ['commands', 0, 1],
      ['kills', 3, 3],
    ];
    expect(sampledLines(records.map((record) => `${JSON.stringify(record)}\n`).join(''), '4711').split('\n')).toEqual([
      expect.stringContaining('TEST_SEED=4711'),
      '  1 of 2 commands',
      '  2 of 9 pages',
    ]);
    expect(sampledLines('["kills",3,3]\n', '4711')).toBe('');
  });
});

describe('the list of long files', () => {
  // Guards against: a file that was renamed or deleted and starts late, or twice.
  test('names each file once, the longest first, and only files that exist', () => {
    const files = longFiles();
    expect(files.filter(({ path }) => !existsSync(join(ROOT, path)))).toEqual([]);
    expect(new Set(files.map(({ path }) => path)).size).toBe(files.length);
    const times = files.flatMap(({ seconds }) => seconds ?? []);
    expect(times.toSorted((a, b) => b - a)).toEqual(times);
  });

  // Guards: a run of some files changes only their lines.
  test('takes the times of a run', () => {
    const before = [
      { path: 'a', seconds: 90 },
      { path: 'b', seconds: undefined },
      { path: 'c', seconds: 30 },
    ];
    const measured = [
      { path: 'a', seconds: 20 },
      { path: 'd', seconds: 40 },
      { path: 'e', seconds: 1 },
    ];
    expect(format(merge(before, measured, { isWhole: false }))).toBe('  40 d\n  30 c\n  20 a\n   - b\n');
    expect(format(merge(before, measured, { isWhole: true }))).toBe('  40 d\n  20 a\n');
  });
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
