/** Jest runs the tests on plain Node, which strips the types itself (see `test/support/runner`). */
export default {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  testRunner: '<rootDir>/test/support/runner/runner.mjs',
  testSequencer: '<rootDir>/test/support/runner/sequencer.mjs',
  transform: {},
  globalSetup: '<rootDir>/test/support/runner/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/runner/global-teardown.ts',
  // For a machine that is slow and busy: what takes this long hangs.
  testTimeout: 360_000,
  // There are more workers than cores, because many tests wait for a time-out, a workflow or a process of their own.
  maxWorkers: 4,
  workerIdleMemoryLimit: '2GB',
  // On a busy machine the kernel takes more than Jest's half second to free the memory of a process that has ended.
  workerGracefulExitTimeout: 30_000,
  reporters: ['<rootDir>/test/support/runner/progress.mjs', '<rootDir>/test/support/runner/reporter.mjs'],
  // Sources that set-up fetches are no modules of ours, and Jest warns of those that have one name.
  modulePathIgnorePatterns: ['<rootDir>/.cache/', '<rootDir>/dist/'],
};
