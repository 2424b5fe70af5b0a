/** S3: everything that fetches for a tenant, every spelling of an address inside, and a sentinel that sees no connection. */
import { proveByTests } from './jest.ts';

await proveByTests({
  name: 'egress',
  claim: 'S3',
  title: 'nothing that a tenant names leads inside',
  tests: [
    'test/security/egress',
    'test/platform/egress',
    'test/resources/tools/webhook',
    'test/resources/tools/http-request',
  ],
});
