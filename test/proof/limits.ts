/** S7: many at once at each cap, of one payment, of one gate; and very much of one workspace beside a little of another. */
import { proveByTests } from './jest.ts';

await proveByTests({
  name: 'limits',
  claim: 'S7',
  title:
    'caps, credit and gates hold when many come at once, the largest project fits, and nobody waits for the backlog of another',
  tests: [
    ...['test/security/caps', 'test/resources/billing/topup', 'test/resources/projects/gates'],
    ...['test/resources/housekeeping/fair', 'test/resources/projects/scale'],
  ],
  // One claim is about time.
  inTurn: true,
});
