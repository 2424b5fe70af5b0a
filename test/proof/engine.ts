/**
 * R9: random stories of random projects against a model of the specification that shares no code with the engine: what a
 * command may do in each state, which versions each attempt was given and what must be stale by them, and that from every
 * state there is a way to the end.
 */
import { proveByTests } from './jest.ts';

await proveByTests({
  name: 'engine',
  claim: 'R9',
  title: 'whatever is done to a project, in whatever order, its record is sound and it can be brought to its end',
  tests: ['test/resources/projects/model-based', 'test/resources/projects/store', 'test/resources/projects/gates'],
});
