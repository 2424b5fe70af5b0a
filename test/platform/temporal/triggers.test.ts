import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { causesOf } from '../../../src/platform/core/causes.ts';
import { createTriggers } from '../../../src/platform/temporal/triggers.ts';
import { connectTestTemporal, type TestTemporal } from '../../support/temporal/temporal.ts';
import { triggerOf } from '../../support/temporal/triggers.ts';

let temporal: TestTemporal;
beforeAll(async () => {
  temporal = await connectTestTemporal();
});
afterAll(() => temporal?.close());

// Guards against: a job changed at the moment of its deletion, where the update asks a schedule that ends without an
// answer.
test('a schedule is brought in line while somebody else deletes it', async () => {
  const triggers = createTriggers(temporal);
  const raced = (n: number, revision: number) => triggerOf(`${temporal.queuePrefix}race/${n}`, revision);
  // More at once would not all be answered within a route's deadline on a busy machine.
  for (const round of Array(12).keys()) {
    const numbers = [...Array(10).keys()].map((n) => 10 * round + n);
    await Promise.all(
      numbers.map(async (n) => {
        const { scheduleId } = raced(n, 1);
        await triggers.apply(raced(n, 1));
        // One that has not come to anything yet, and one that has.
        if (n % 2 === 0) await temporal.client.schedule.getHandle(scheduleId).describe();
        const both = await Promise.allSettled([triggers.apply(raced(n, 2)), triggers.remove(scheduleId)]);
        const failed = both.flatMap((one) => (one.status === 'rejected' ? [...causesOf(one.reason)].map(String) : []));
        expect(failed).toEqual([]);
      }),
    );
    await Promise.all(numbers.map((n) => triggers.remove(raced(n, 1).scheduleId)));
  }
});
