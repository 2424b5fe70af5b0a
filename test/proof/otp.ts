/** S4: the gate of confirmation codes under guessing, haste and foreign hands. */
import { proveByTests } from './jest.ts';

await proveByTests({
  ...{ name: 'otp', claim: 'S4', title: 'a code confirms one request, once, and guessing is stopped' },
  tests: ['test/resources/otp', 'test/resources/sign-in/codes'],
});
