/** S4: codes and links by mail under guessing, haste, foreign hands and floods. */
import { proveByTests } from './jest.ts';

await proveByTests({
  name: 'otp',
  claim: 'S4',
  title: 'a code confirms one request, once; guessing is stopped, and nobody is flooded or kept out by others',
  tests: [
    'test/resources/otp',
    'test/resources/sign-in/codes',
    'test/resources/sign-in/attacks',
    'test/resources/output-destinations/recipients',
  ],
});
