/** R8: everything that a workflow can wait for, sixty days long, with the worker killed on the way; then it goes on. */
import { proveByTests } from './jest.ts';

await proveByTests({
  name: 'long-waits',
  claim: 'R8',
  title: 'every workflow that can wait does so for sixty days, and then goes on',
  tests: ['test/workflows/long-waits', 'test/workflows/run-conversation'],
});
