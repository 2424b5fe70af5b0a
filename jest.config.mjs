/** Jest runs TypeScript as ES modules, through swc; `npm test` sets NODE_OPTIONS=--experimental-vm-modules. */
export default {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2024' }, module: { type: 'es6' } },
    ],
  },
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  testTimeout: 60_000,
  maxWorkers: 2,
  // Modules of a file are not given back when the next one begins: after a hundred of them the heap would be full.
  workerIdleMemoryLimit: '1GB',
  reporters: ['default', '<rootDir>/test/support/reporter.mjs'],
};
