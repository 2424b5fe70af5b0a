/**
 * Prints what the run sampled and the closing line `N passed, N failed, N skipped`, which tools can read whatever the runner is.
 * If `CI=true`, a skipped test fails the run, because nobody would notice there what was not tested. Raw SQL whose rows
 * do not have their declared type, or show what was before the statement, fails it too, once all tests have run (`../rows`).
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tellTimes } from './cpu.mjs';
import { writeLongFiles } from './long-files.ts';
import { sampledLines } from './sampled-lines.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const ROWS_CHECK = fileURLToPath(new URL('../rows/check.ts', import.meta.url));

/** These tests may be skipped even then, because containers need a Docker daemon. */
const MAY_BE_SKIPPED = /^a real container /;

export default class ClosingLine {
  #skipped = [];
  #failedFiles = [];
  #rows = '';
  #files = [];

  onTestResult({ path }, { testResults, perfStats, cpuSeconds, failureMessage }) {
    if (failureMessage) this.#failedFiles.push(relative(ROOT, path));
    this.#files.push({ path, seconds: perfStats.runtime / 1_000, cpuSeconds });
    const pending = testResults.filter(({ status }) => status === 'pending' || status === 'todo');
    this.#skipped.push(...pending.map(({ fullName }) => fullName));
  }

  async onRunComplete(_contexts, results) {
    const { numPassedTests, numFailedTests, numPendingTests, numRuntimeErrorTestSuites, startTime } = results;
    const { TEST_ROWS, TEST_ROWS_OF, TEST_TIMES, TEST_WRITE_TIMES, TEST_DRAWN, TEST_SEED } = process.env;
    const print = (text) => process.stderr.write(text === '' ? '' : `${text}\n`);
    if (TEST_ROWS) this.#rows = await checkRows(TEST_ROWS, TEST_ROWS_OF);
    if (TEST_TIMES) print(tellTimes(this.#files));
    if (TEST_WRITE_TIMES) {
      const measured = this.#files.map(({ path, seconds }) => ({ path: relative(ROOT, path), seconds }));
      writeLongFiles(measured, { isWhole: TEST_WRITE_TIMES === 'all' });
    }
    if (TEST_DRAWN && existsSync(TEST_DRAWN)) print(sampledLines(readFileSync(TEST_DRAWN, 'utf8'), TEST_SEED));
    print(this.getLastError()?.message ?? '');
    if (this.#failedFiles.length > 0) print(`Failed:\n${this.#failedFiles.map((name) => `  ${name}`).join('\n')}`);
    print(`${this.#files.length} files in ${((Date.now() - startTime) / 1_000).toFixed(0)} s`);
    const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : '';
    print(`${numPassedTests} passed, ${numFailedTests + numRuntimeErrorTestSuites} failed${skipped}`);
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
