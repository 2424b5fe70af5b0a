/**
 * Prints the closing line `N passed, N failed, N skipped`, which tools can read whatever the runner. Where `CI=true`, a test
 * that was skipped fails the run: nobody would read there what was not proved.
 */

/** Of these there may be none where the tests run: containers need a Docker daemon. */
const MAY_BE_SKIPPED = /^a real container /;

export default class ClosingLine {
  #skipped = [];

  onTestResult(_test, { testResults }) {
    const pending = testResults.filter(({ status }) => status === 'pending' || status === 'todo');
    this.#skipped.push(...pending.map(({ fullName }) => fullName));
  }

  onRunComplete(_contexts, { numPassedTests, numFailedTests, numPendingTests, numRuntimeErrorTestSuites }) {
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : '';
    const error = this.getLastError();
    if (error) process.stderr.write(`${error.message}\n`);
    process.stderr.write(`${numPassedTests} passed, ${failed} failed${skipped}\n`);
  }

  getLastError() {
    const wrongly = this.#skipped.filter((name) => !MAY_BE_SKIPPED.test(name));
    if (process.env.CI !== 'true' || wrongly.length === 0) return undefined;
    return new Error(`Skipped, which may not be where CI=true:\n${wrongly.map((name) => `  ${name}`).join('\n')}`);
  }
}
