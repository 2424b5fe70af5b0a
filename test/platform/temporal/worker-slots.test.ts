import { expect, test } from '@jest/globals';
import type { QUEUES } from '../../../src/platform/temporal/task-queues.ts';
import { createWorkerSlots } from '../../../src/platform/temporal/worker-slots.ts';

const slotsOf = (queue: (typeof QUEUES)[number]) =>
  createWorkerSlots(queue, { WORKER_MAX_MODEL_CALLS: 30, WORKER_MAX_CONCURRENT: 4 }, (type) => type === 'takeTurn');

// Guards: a worker takes as many activities as it has slots for what is on its queue, of each kind its own number.
test.each([
  ['orchestration', 34, ['model_calls free 30', 'work free 4']],
  ['models', 30, ['model_calls free 30']],
  ['tools', 4, ['work free 4']],
  ['webhooks', 4, ['work free 4']],
] as const)('slots of %s', (queue, total, free) => {
  const { use, total: sum } = slotsOf(queue);
  expect(sum).toBe(total);
  const counts = use().filter(({ count }) => count > 0);
  expect(counts.map(({ kind, state, count }) => `${kind} ${state} ${count}`)).toEqual(free);
});

// Guards: work that has all of its slots leaves those for model calls alone, and the other way round.
test.each([
  ['takeTurn', 'callTool'],
  ['callTool', 'takeTurn'],
])('%s holds up no %s', async (busy, other) => {
  const slots = slotsOf('orchestration');
  expect(slots.of(busy)).not.toBe(slots.of(other));
  const done = Promise.withResolvers<void>();
  const held = slots.of(busy).hold('acme', () => done.promise);
  expect(slots.use().filter(({ state, count }) => state === 'taken' && count > 0)).toHaveLength(1);
  expect(slots.of(other).use().taken).toBe(0);
  done.resolve();
  await held;
});
