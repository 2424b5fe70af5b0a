/** S6: what scripts, commands and containers of tenants try. Where a sandbox cannot be made, the report says so loudly. */
import { proveByTests } from './jest.ts';

await proveByTests({
  name: 'sandbox',
  claim: 'S6',
  title: 'code that a tenant brings gets nothing, and ends in time',
  inTurn: true,
  tests: ['test/platform/sandbox', 'test/resources/tools/sandbox'],
});
