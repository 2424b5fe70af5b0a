/** S7: many at once at each cap, of one payment, of one gate. */
import { proveByTests } from './jest.ts';

await proveByTests({
  ...{ name: 'limits', claim: 'S7', title: 'caps, credit and gates hold when many come at once' },
  tests: ['test/security/caps', 'test/resources/billing/topup', 'test/resources/projects/gates'],
});
