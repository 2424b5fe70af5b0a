/** S2: every id in path, query and body swapped for another workspace's, and every list read beside its neighbours. */
import { proveByTests } from './jest.ts';

await proveByTests({
  name: 'tenancy',
  claim: 'S2',
  title: "what is another workspace's is unknown, and shows nowhere",
  tests: ['test/security/tenancy', 'test/resources/memory/graph', 'test/resources/projects/strangers'],
});
