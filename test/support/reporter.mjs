/** Prints the closing line `N passed, N failed, N skipped`, which tools can read whatever the runner. */
export default class ClosingLine {
  onRunComplete(_contexts, { numPassedTests, numFailedTests, numPendingTests, numRuntimeErrorTestSuites }) {
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : '';
    process.stderr.write(`${numPassedTests} passed, ${failed} failed${skipped}\n`);
  }
}
