/** S8: every caller of something outside, given every body that has no end, lies about its length or unpacks to more. */
import { proveByTests } from './jest.ts';

await proveByTests({
  name: 'bodies',
  claim: 'S8',
  title: 'nothing from outside is read without end',
  inTurn: true,
  tests: ['test/security/bodies', 'test/security/hostile-content', 'test/architecture/bodies', 'test/platform/egress'],
});
