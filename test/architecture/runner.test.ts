/** The runner of the tests: what fails is told, and no file finds what another one has left. */
import { expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

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
      ['1-leaves-traces.case.ts', { passes: 'passed', 'is skipped': 'pending' }],
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
