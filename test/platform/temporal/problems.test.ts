/** What failures of Temporal calls mean to callers. */
import { expect, test } from '@jest/globals';
import { ServiceError } from '@temporalio/client';
import { namedIfUnreachable } from '../../../src/platform/temporal/problems.ts';

/** As the client throws what the server said. */
const failed = (code: number, message: string) =>
  new ServiceError('Workflow Update failed', { cause: Object.assign(new Error(message), { code }) });

// Guards: workers that cannot keep up with a project give a 502, which a caller may repeat, and no internal error.
test.each([
  [9, 'Unable to perform workflow execution update due to Workflow Task in failed state.'],
  [14, 'no connection'],
  [4, 'Deadline exceeded'],
])('%i %s: the runtime is not there', (code, message) => {
  expect(namedIfUnreachable(failed(code, message))).toMatchObject({ code: 'runtime_unreachable' });
});

// Guards: any other error keeps its name.
test('another precondition is what it is', () => {
  const error = failed(9, 'namespace is deleted');
  expect(namedIfUnreachable(error)).toBe(error);
});
