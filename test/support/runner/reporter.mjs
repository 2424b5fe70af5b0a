/**
 * Prints the closing line `N passed, N failed, N skipped`, which tools can read whatever the runner is. Where
 * `CI=true`, a skipped test fails the run, because nobody would notice there what was not tested. Raw SQL whose rows
 * do not have their declared type, or are what was before, fails it too, once all tests have run (`../rows`).
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { tellTimes } from './cpu.mjs';

const ROWS_CHECK = fileURLToPath(new URL('../rows/check.ts', import.meta.url));

/** These tests may be skipped even then, because containers need a Docker daemon. */
const MAY_BE_SKIPPED = /^a real container /;

export default class ClosingLine {
  #skipped = [];
  #rows = '';
  #files = [];

  onTestResult({ path }, { testResults, perfStats, cpuSeconds }) {
    this.#files.push({ path, seconds: perfStats.runtime / 1_000, cpuSeconds });
    const pending = testResults.filter(({ status }) => status === 'pending' || status === 'todo');
    this.#skipped.push(...pending.map(({ fullName }) => fullName));
  }

  async onRunComplete(_contexts, { numPassedTests, numFailedTests, numPendingTests, numRuntimeErrorTestSuites }) {
    if (process.env.TEST_ROWS) this.#rows = await checkRows(process.env.TEST_ROWS, process.env.TEST_ROWS_OF);
    if (process.env.TEST_TIMES) process.stderr.write(`${tellTimes(this.#files)}\n`);
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : '';
    const error = this.getLastError();
    if (error) process.stderr.write(`${error.message}\n`);
    process.stderr.write(`${numPassedTests} passed, ${failed} failed${skipped}\n`);
  }

  getLastError() {
    if (this.#rows !== '') return new Error(`Raw SQL whose rows are not what they are said to be:\n${this.#rows}`);
    const wrongly = this.#skipped.filter((name) => !MAY_BE_SKIPPED.test(name));
    if (process.env.CI !== 'true' || wrongly.length === 0) return undefined;
    return new Error(`Skipped, which may not be where CI=true:\n${wrongly.map((name) => `  ${name}`).join('\n')}`);
  }
}

/** @returns what is wrong, or nothing */
const checkRows = (folder, of) =>
  new Promise((resolve) =>
    execFile(process.execPath, [ROWS_CHECK, folder, `--${of}`], (error, stdout, stderr) =>
      resolve(error ? stdout || stderr || error.message : ''),
    ),
  );
