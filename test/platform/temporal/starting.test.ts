/** Workflows of rows: many starts at once. */
import { expect, test } from '@jest/globals';
import { createLog } from '../../../src/platform/core/log.ts';
import { createDeliveryStarter } from '../../../src/platform/temporal/starting.ts';

// Guards against: a hundred starts, each with its own deadline, being sent at once. On a busy machine the last ones
// came too late.
test('starts what was recorded so many at once', async () => {
  let [underWay, most] = [0, 0];
  const started: string[] = [];
  const { startRecorded } = createDeliveryStarter<{ deliveryId: string }>({
    listStartable: async (ids) => ids.map((deliveryId) => ({ deliveryId })),
    takeDue: async () => ({ ids: [], last: undefined }),
    noteStarted: async () => {},
    recordExhausted: async () => {},
    hasEnded: async () => false,
    async start({ deliveryId }) {
      most = Math.max(most, ++underWay);
      await new Promise(setImmediate);
      underWay--;
      started.push(deliveryId);
      return true;
    },
    log: createLog({ level: 'silent', pretty: false }),
  });
  const ids = Array.from({ length: 500 }, (_, n) => `delivery-${n}`);
  await startRecorded(ids);
  expect(started.toSorted()).toEqual(ids.toSorted());
  expect(most).toBeLessThanOrEqual(20);
});
