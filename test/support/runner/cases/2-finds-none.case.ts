import { expect, test } from '@jest/globals';

test('finds nothing of the file before', async () => {
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect([process.env.TRACE_OF_A_CASE, process.env.HOME === '/elsewhere', Math.random() < 1]).toEqual([
    undefined,
    false,
    true,
  ]);
});
