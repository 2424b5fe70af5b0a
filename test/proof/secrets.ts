/** S5: a canary in every secret field, real use, then a search of everything that anybody could read afterwards. */
import { proveByTests } from './jest.ts';

await proveByTests({
  name: 'secrets',
  claim: 'S5',
  title: 'no secret is in histories, logs, traces, dumps or replies',
  tests: [
    'test/security/secrets',
    'test/security/integration-secrets',
    'test/security/rotate-secrets',
    'test/workflows/run-history',
  ],
});
