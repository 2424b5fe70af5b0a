/** S1: every route with every wrong credential. Both are generated from the declarations, so a new route is tried too. */
import { proveByTests } from './jest.ts';

await proveByTests({
  name: 'auth',
  claim: 'S1',
  title: 'every route refuses every wrong credential with the status of its own',
  tests: ['test/security/auth-matrix', 'test/platform/http/auth', 'test/security/headers'],
});
